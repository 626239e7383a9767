// Package runsource gives a translator what the entries of a run's log only refer to.
package runsource

import (
	"context"
	"encoding/json"
	"io"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Source is a run of an engine, as a caller sees it.
type Source struct {
	Engine *engine.Engine
	Caller generators.Caller
	RunID  string
	// Pages returns the base URL of Beam's pages, as the client reaches them.
	Pages func() (string, error)
}

var _ msg.Source = Source{}

// PageBaseURL implements [msg.Source].
func (s Source) PageBaseURL() (string, error) { return s.Pages() }

// ApprovedSample implements [msg.Source].
func (s Source) ApprovedSample(askID string) (*ask.SampleRequest, error) {
	return s.Engine.ApprovedSample(context.Background(), s.Caller, askID)
}

// OpenArtifact implements [msg.Source].
func (s Source) OpenArtifact(ctx context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
	return s.Engine.OpenArtifact(ctx, s.Caller, s.RunID, seq)
}

// Content implements [msg.Source].
func (s Source) Content(end *runlog.Finished) (json.RawMessage, error) {
	return s.Engine.Content(s.Caller, s.RunID, end)
}

// OpenResult implements [msg.Source].
func (s Source) OpenResult(end *runlog.Finished) (io.ReadCloser, error) {
	return s.Engine.OpenResult(s.Caller, s.RunID, end)
}
