package runs

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Replay starts a run with the input of another one, and its answers up to the entry
// whose ordinal is the parameter until; all of them if it is missing.
func (h *Handlers) Replay(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if err := request.ParseForm(w, r); err != nil {
		return err
	}
	until, start, err := readRepeat(r)
	if err != nil {
		return err
	}
	info, err := h.Engine.Replay(r.Context(), caller, r.PathValue("id"), until, start)
	return h.showStarted(w, r, info, err)
}

// Fork starts a run that takes the outcomes of another one up to the entry whose ordinal is the
// parameter until; all of them if it is missing. The parameter input has other arguments, as JSON.
// With a JSON body, the parameters are its members.
func (h *Handlers) Fork(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	var body struct {
		Until json.Number     `json:"until"`
		Input json.RawMessage `json:"input"`
	}
	if request.MediaType(r) == request.JSONType {
		raw, err := request.ReadBody(w, r)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			return problem.Errorf(http.StatusBadRequest, "The body must be a JSON object with the members until and input.")
		}
		r.Form = url.Values{"until": {body.Until.String()}}
	} else if err := request.ParseForm(w, r); err != nil {
		return err
	} else if input := r.Form.Get("input"); input != "" {
		body.Input = json.RawMessage(input)
	}
	if string(body.Input) == "null" {
		body.Input = nil
	}
	if body.Input != nil && !json.Valid(body.Input) {
		return problem.Errorf(http.StatusBadRequest, "The parameter input is not valid JSON.")
	}
	until, start, err := readRepeat(r)
	if err != nil {
		return err
	}
	info, err := h.Engine.Fork(r.Context(), caller, r.PathValue("id"), until, body.Input, start)
	return h.showStarted(w, r, info, err)
}

// readRepeat reads up to where a request repeats a run, and how it starts the other one.
func readRepeat(r *http.Request) (until uint64, start engine.StartRequest, err error) {
	start.Surface = request.SurfaceOf(r)
	if start.IdempotencyKey, err = request.IdempotencyKey(r); err != nil || r.Form.Get("until") == "" {
		return math.MaxUint64, start, err
	}
	until, err = request.Ordinal(r.Form, "until")
	return until, start, err
}

// showStarted leads to a run that was started, unless err says that it wasn't.
func (h *Handlers) showStarted(w http.ResponseWriter, r *http.Request, info engine.Info, err error) error {
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		return response.Started(w, h.Site.Path, info.ID)
	}
	http.Redirect(w, r, h.Site.Path.Run(info.ID), http.StatusSeeOther)
	return nil
}

// Cancel stops a run.
func (h *Handlers) Cancel(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	surface := request.SurfaceOf(r)
	if request.IsDatastar(r) || request.WantsHTML(r) {
		surface = "browser"
	}
	if err := h.Engine.Cancel(r.Context(), caller, id, surface); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, h.Site.Path.Run(id))
}

// Adopt makes the operator the owner of another caller's run.
func (h *Handlers) Adopt(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	if err := h.Engine.Adopt(r.Context(), caller, id); err != nil {
		return err
	}
	if !request.WantsJSON(r) {
		return response.RedirectOrAccept(w, r, h.Site.Path.Run(id))
	}
	info, err := h.Engine.Info(caller, id)
	if err != nil {
		return err
	}
	return response.JSON(w, http.StatusOK, info)
}

// AskDelete asks whether to delete a run.
func (h *Handlers) AskDelete(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := h.Engine.Info(caller, id)
	if err != nil {
		return err
	}
	if !info.State.Ended() {
		return engine.ErrRunNotEnded
	}
	run, err := h.Loader.Load(r.Context(), caller, id)
	if err != nil {
		return err
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.DeleteRunPage(h.Pages.Chrome(r, caller, "Delete a run"), run))
}

// Delete deletes a run.
func (h *Handlers) Delete(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if err := h.Engine.Delete(caller, r.PathValue("id")); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, h.Site.Path.Runs())
}

// WriteUnfinished writes the logs of all unfinished durable runs, for `beam rehearse`.
func (h *Handlers) WriteUnfinished(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if !caller.HasRole(generators.RoleOperator) {
		return problem.ErrOperatorsOnly
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	if err := runs.WriteUnfinishedRuns(r.Context(), w, h.Engine, false); err != nil && r.Context().Err() == nil {
		h.Logger.Error("writing the unfinished runs", "err", err) // who reads them finds them cut off
	}
	return nil
}
