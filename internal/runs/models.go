package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/sampling"
)

// Models describes how a question to a model can be sent to the configured models. The
// models are empty if there are none.
func (l *Local) Models(ctx context.Context, askID string) (sampling.Description, error) {
	if l.Sampling == nil {
		return sampling.Description{}, nil
	}
	open, err := l.Ask(ctx, askID)
	if err != nil {
		return sampling.Description{}, err
	}
	state, err := l.Sampling.State(ctx, l.Caller, askID)
	if err != nil {
		return sampling.Description{}, err
	}
	return l.Sampling.Describe(asking.SampleOf(open.Question), state), nil
}

// Approve sends a question to a model; see [sampling.Service.Approve].
func (l *Local) Approve(ctx context.Context, askID string, d sampling.Decision) error {
	if l.Sampling == nil {
		return sampling.ErrNotForModel
	}
	return l.Sampling.Approve(ctx, l.Caller, Surface, askID, d)
}

// Models describes how a question to a model can be sent to the configured models.
func (r *Remote) Models(ctx context.Context, askID string) (sampling.Description, error) {
	var open struct{ Sampling sampling.Description }
	err := r.get(ctx, "/asks/"+url.PathEscape(askID), &open, engine.ErrAskNotFound)
	return open.Sampling, err
}

// Approve sends a question to a model.
func (r *Remote) Approve(ctx context.Context, askID string, d sampling.Decision) error {
	raw, err := json.Marshal(struct {
		Action string `json:"action"`
		sampling.Decision
	}{"approve", d})
	if err != nil {
		return err
	}
	return r.do(ctx, request{method: http.MethodPost, path: "/asks/" + url.PathEscape(askID) + "/sampling", mediaType: "application/json", body: bytes.NewReader(raw), notFound: engine.ErrAskNotFound}, nil)
}
