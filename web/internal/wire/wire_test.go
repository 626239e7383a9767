package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/sse"
	"github.com/photon-beam/beam/web/internal/wire"
)

// A source gives the artifacts of a run from its entries.
type source []runlog.Entry

func (source) PageBaseURL() (string, error) { return "http://b", nil }

func (s source) OpenArtifact(_ context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
	a, err := runlog.Decode[generators.Artifact](s[seq-1])
	return &a, nil, err
}

func (source) ApprovedSample(string) (*ask.SampleRequest, error)     { return nil, nil }
func (source) Content(end *runlog.Finished) (json.RawMessage, error) { return end.Content, nil }
func (source) OpenResult(*runlog.Finished) (rc io.ReadCloser, err error) {
	return nil, errors.ErrUnsupported
}

func TestEveryEntryHasAMessage(t *testing.T) {
	runlogtest.CheckShown(t, map[runlog.Kind]string{
		runlog.KindClaimed:  "which process runs the run is the engine's affair",
		runlog.KindAdopted:  "MCP knows no owner of a request",
		runlog.KindStepped:  "what a step returned is the run's own affair",
		runlog.KindWoken:    "what the run does next is told",
		runlog.KindSampling: "a client gets no text of a reply before it is returned",
	}, func(x runlogtest.Example) func(runlog.Entry) bool {
		render := sse.NewJSONRPCRenderer(t.Context(), sse.JSONRPCRun{ID: "a", PhotonName: "greet", Source: source(x.Entries)}, 0)
		view := wire.NewView("a", render)
		return func(e runlog.Entry) bool {
			m, ok, err := view.Translate(e)
			if err != nil || ok != (m.Seq == e.Seq && len(m.Message) > 0) {
				t.Errorf("%s: entry %d is %+v, %v, %v", x.Name, e.Seq, m, ok, err)
			}
			return ok
		}
	})
}
