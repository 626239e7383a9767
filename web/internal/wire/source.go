package wire

import (
	"context"
	"encoding/json"
	"io"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// Runs describes an engine's runs for the rendering of their messages.
type Runs struct {
	Engine  *engine.Engine
	Photons *generators.Registry
}

// Describe returns a run as the rendering of its JSON-RPC messages needs it. BaseURL begins the
// URLs in them.
func (s *Runs) Describe(ctx context.Context, caller generators.Caller, info engine.Info, baseURL string) sse.JSONRPCRun {
	photon, _ := s.Photons.Lookup(info.Photon)
	return sse.JSONRPCRun{
		ID: info.ID, PhotonName: info.Photon, Photon: photon, BaseURL: baseURL,
		OpenArtifact: func(ctx context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
			return s.Engine.OpenArtifact(ctx, caller, info.ID, seq)
		},
		Excludes: func(q *ask.Question) string { return s.Engine.Excludes(caller, info.ID, q) },
		ApprovedSample: func(askID string) *ask.SampleRequest {
			version, _ := s.Engine.ApprovedSample(ctx, caller, askID) // of a settled question, there is none
			return version
		},
		Content: func(end *runlog.Finished) (json.RawMessage, error) {
			return s.Engine.Content(caller, info.ID, end)
		},
		OpenResult: func(end *runlog.Finished) (io.ReadCloser, error) { return s.Engine.OpenResult(caller, info.ID, end) },
	}
}
