package sse_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A source is that of a run without a result of another server, whose artifacts are in its entries.
type source struct {
	base     string // of pages
	entries  []runlog.Entry
	approved func(askID string) *ask.SampleRequest // nil for no version
}

var _ message.Source = source{}

func (s source) PageBaseURL() (string, error) { return s.base, nil }

func (s source) OpenArtifact(_ context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error) {
	a, err := runlog.Decode[generators.Artifact](s.entries[seq-1])
	return &a, nil, err
}

func (s source) ApprovedSample(askID string) (*ask.SampleRequest, error) {
	if s.approved == nil {
		return nil, nil
	}
	return s.approved(askID), nil
}

func (source) Content(end *runlog.Finished) (json.RawMessage, error) { return end.Content, nil }

func (source) OpenResult(*runlog.Finished) (io.ReadCloser, error) { return nil, errors.ErrUnsupported }
