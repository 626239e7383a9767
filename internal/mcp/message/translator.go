package message

import (
	"context"
	"encoding/json"
	"io"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Translator translates the log of one run for one client. It keeps no state
// of its own; see [State].
type Translator struct {
	Client *Client
	Photon *generators.Photon
	RunID  string
	// ProgressToken is the token that the client wants progress reported under;
	// nil if it wants none.
	ProgressToken json.RawMessage
	// Annotated adds _meta members for what MCP has no field for (the kind of an
	// event, how the run ended), and announces each artifact when it is made. Set
	// it for clients that know Beam.
	Annotated bool
	Source    Source
	// MapUI returns the address under which the client reads a resource of another
	// server with a ui:// address; nil if that is the same.
	MapUI func(uri string) string
}

// A Source provides what the entries of a run's log only refer to.
type Source interface {
	// PageBaseURL returns the base URL of Beam's pages as the client reaches
	// them, as in "http://127.0.0.1:3008".
	PageBaseURL() (string, error)
	// OpenArtifact opens the artifact with an ordinal. Its body is in the
	// artifact or, if it is large, in the reader, which the caller closes.
	OpenArtifact(ctx context.Context, seq uint64) (*generators.Artifact, io.ReadCloser, error)
	// ApprovedSample returns the version of an open question's request to a model that was
	// approved last, if that isn't the one that was asked; else nil.
	ApprovedSample(askID string) (*ask.SampleRequest, error)
	// Content returns the result that another server gave, if the run has ended with
	// one; see [runlog.Finished].
	Content(end *runlog.Finished) (json.RawMessage, error)
	// OpenResult opens the large result of a run that has ended so, as JSON; see
	// [runlog.Finished]. The caller closes it.
	OpenResult(end *runlog.Finished) (io.ReadCloser, error)
}

// A State is what a translation remembers from entry to entry. It is determined
// by the entries translated so far, so a stream that begins in the middle
// translates the entries before that point and discards the messages. The zero
// value is the state at the beginning of a run.
type State struct {
	Progress  Progress
	artifacts []uint64 // their ordinals
}

// PlaceholderPhoton stands for a photon that is no longer registered, for the
// log of one of its runs.
func PlaceholderPhoton(name string) *generators.Photon {
	input, err := generators.ParseSchema(json.RawMessage(`{"type":"object"}`))
	if err != nil {
		panic(err) // it is valid
	}
	return generators.FromSchema(name, input, nil, nil, nil)
}
