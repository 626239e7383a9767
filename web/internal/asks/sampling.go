package asks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/stream"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Sampling records what people decide about requests to models.
type Sampling struct {
	*Views
	Pending *stream.Pending
}

// A samplingDecision is what a client says about a request to a model.
type samplingDecision struct {
	Action string `json:"action"` // preview, approve, stop or return
	sampling.Decision
	Text *string `json:"text,omitempty"` // with return, in place of the reply's text
}

// Decide approves a request to a model, shows before what that would send, stops the
// call, or returns the reply.
func (h *Sampling) Decide(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	open, err := h.Engine.OpenAsk(r.Context(), caller, r.PathValue("id"))
	if errors.Is(err, engine.ErrSettled) && isLivePreview(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return h.renderUnanswerable(w, r, caller, r.PathValue("id"), err)
	}
	if !h.isForModel(open) {
		return sampling.ErrNotForModel
	}
	d, surface, err := h.readDecision(w, r, caller, open)
	if d.Action == "preview" {
		return h.previewSample(w, r, caller, open, d, err)
	}
	if err == nil {
		defer h.Pending.Add(open.Run)()
		err = h.applyDecision(r, caller, open, d, surface)
	}
	var invalid *generators.InvalidError
	switch {
	case err == nil:
		return response.RedirectOrAccept(w, r, h.onRunPage(open))
	case !request.IsDatastar(r) && !request.WantsHTML(r):
		return err
	case errors.As(err, &invalid):
		return h.renderInvalidSample(w, r, caller, open, invalid.Fields)
	case errors.Is(err, engine.ErrSamplingChanged), errors.Is(err, sampling.ErrNoReply), errors.Is(err, sampling.ErrNotReplying):
		r.PostForm = nil // it shows where the question stands now
		return h.renderInvalidSample(w, r, caller, open, []generators.FieldError{{Message: "was not done: " + err.Error()}})
	}
	return h.renderUnanswerable(w, r, caller, open.ID, err)
}

// readDecision reads a decision from JSON, or from the form of a page.
func (h *Sampling) readDecision(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk) (d samplingDecision, surface string, err error) {
	switch request.MediaType(r) {
	case request.JSONType:
		body, err := request.ReadBody(w, r)
		if err != nil {
			return d, "", err
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&d); err != nil {
			return d, "", problem.Errorf(http.StatusBadRequest, "The body is not a decision: %v.", err)
		}
		return d, request.SurfaceOf(r), nil
	case request.FormType, request.MultipartType:
		if err := request.ParseAnyForm(w, r); err != nil {
			return d, "", err
		}
		state, err := h.Sampling.State(r.Context(), caller, open.ID)
		if err != nil {
			return d, "", err
		}
		d, err := decodeDecision(r.URL.Query().Get("action"), r.PostForm, state.Request(asking.SampleOf(open.Question)))
		return d, "browser", err
	}
	return d, "", request.UnsupportedMediaType(r, request.JSONType+", "+request.FormType+" or "+request.MultipartType)
}

func (h *Sampling) applyDecision(r *http.Request, caller generators.Caller, open engine.OpenAsk, d samplingDecision, surface string) error {
	switch d.Action {
	case "approve":
		return h.Sampling.Approve(r.Context(), caller, surface, open.ID, d.Decision)
	case "stop":
		return h.Sampling.Stop(r.Context(), caller, open.ID)
	case "return":
		return h.Sampling.Return(r.Context(), caller, surface, open.ID, d.Text)
	}
	return problem.Errorf(http.StatusBadRequest, "The action must be preview, approve, stop or return, not %q.", d.Action)
}

// isLivePreview reports whether a request is for the preview of a page with script, which sends
// it as its form is filled in: it may arrive after the form was posted, as the page's stream says.
func isLivePreview(r *http.Request) bool {
	return request.IsDatastar(r) && r.URL.Query().Get("action") == "preview"
}

// previewSample shows what a decision would send: as JSON, as the part of the page that shows
// it, or, without script, on a page with what was entered.
func (h *Sampling) previewSample(w http.ResponseWriter, r *http.Request, caller generators.Caller, open engine.OpenAsk, d samplingDecision, err error) error {
	var version sampling.Version
	if err == nil {
		version, err = h.Sampling.Preview(r.Context(), caller, open.ID, d.Decision)
	}
	shown := ui.Preview{Version: version}
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid) && (request.IsDatastar(r) || request.WantsHTML(r)):
		shown = ui.PreviewErrors(invalid.Fields)
	case isLivePreview(r) && (errors.Is(err, engine.ErrSamplingChanged) || errors.Is(err, engine.ErrSettled)):
		w.WriteHeader(http.StatusNoContent)
		return nil
	case errors.Is(err, engine.ErrSamplingChanged) && request.WantsHTML(r):
		r.PostForm = nil
		return h.renderInvalidSample(w, r, caller, open, []generators.FieldError{{Message: "was not shown: " + err.Error()}})
	case err != nil:
		return err
	}
	switch {
	case request.IsDatastar(r):
		w.Header().Set("Datastar-Selector", "#"+ui.PreviewID(open.ID, d.Call))
		w.Header().Set("Datastar-Mode", "inner")
		return h.Pages.Render(w, r, http.StatusOK, ui.PreviewOf(open.ID, d.Call, h.Sampling.Models(), shown))
	case !request.WantsHTML(r):
		return response.JSON(w, http.StatusOK, version)
	}
	run, err := h.Loader.Load(r.Context(), caller, open.Run)
	if err != nil {
		return err
	}
	a := run.Ask(open.ID)
	if a == nil || !a.Settled.IsZero() {
		return h.renderUnanswerable(w, r, caller, open.ID, engine.ErrSettled)
	}
	var errs []generators.FieldError
	if invalid != nil {
		errs = invalid.Fields
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.SamplePage(h.Pages.Chrome(r, caller, open.Title), a, h.Sampling.Models(), errs, r.PostForm, &shown))
}

// Models renders the configured models, how they are chosen, what they were used
// for, and the standing approvals.
func (h *Sampling) Models(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := ui.ModelsPage{Models: h.Sampling.Models().All()}
	var err error
	if page.Standing, err = h.Sampling.Standings(r.Context(), caller); err != nil {
		return err
	}
	if page.Usage, err = h.Sampling.Usages(r.Context(), caller); err != nil {
		return err
	}
	if page.Since, err = h.Sampling.UsageSince(r.Context()); err != nil {
		return err
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, map[string]any{"models": h.Sampling.DescribeModels(), "usage": page.Usage, "since": page.Since, "standing": page.Standing})
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Models(h.Pages.Chrome(r, caller, "Models"), page))
}

// Revoke revokes a standing approval.
func (h *Sampling) Revoke(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return fmt.Errorf("%w", sampling.ErrNoStanding)
	}
	if err := h.Sampling.Revoke(r.Context(), caller, id); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, h.Links.Models())
}
