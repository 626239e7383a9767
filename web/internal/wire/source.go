package wire

import (
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/runsource"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// Runs describes an engine's runs for the rendering of their messages.
type Runs struct {
	Engine  *engine.Engine
	Photons *registry.Registry
}

// Describe returns a run as a caller gets its JSON-RPC messages. BaseURL begins the URLs in them.
func (r *Runs) Describe(caller generators.Caller, info engine.Info, baseURL string) sse.JSONRPCRun {
	photon, _ := r.Photons.Lookup(info.Photon)
	return sse.JSONRPCRun{
		ID: info.ID, PhotonName: info.Photon, Photon: photon, Source: r.source(caller, info, baseURL),
		Excludes: func(q *askdata.Question) string { return r.Engine.Excludes(caller, info.ID, q) },
	}
}

// DescribeRecorded is [Runs.Describe] without a result that is kept for the run's client and must
// not be in the log.
func (r *Runs) DescribeRecorded(caller generators.Caller, info engine.Info, baseURL string) sse.JSONRPCRun {
	run := r.Describe(caller, info, baseURL)
	run.Source = recordedSource{r.source(caller, info, baseURL)}
	return run
}

func (r *Runs) source(caller generators.Caller, info engine.Info, baseURL string) source {
	return source{runsource.Source{Engine: r.Engine, Caller: caller, RunID: info.ID, Pages: func() (string, error) { return baseURL, nil }}}
}

// A source is a run whose questions may have been settled since.
type source struct{ runsource.Source }

// ApprovedSample implements [message.Source]. Of a settled question, there is none.
func (s source) ApprovedSample(askID string) (*ask.SampleRequest, error) {
	version, _ := s.Source.ApprovedSample(askID)
	return version, nil
}

// A recordedSource has only results that are in the log.
type recordedSource struct{ source }

// Content implements [message.Source].
func (s recordedSource) Content(end *runlog.Finished) (json.RawMessage, error) {
	if end.Content == nil && end.ContentBlob == "" {
		return nil, nil
	}
	return s.source.Content(end)
}
