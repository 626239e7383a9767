package runs

import (
	"math"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
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
	key, err := request.IdempotencyKey(r)
	if err != nil {
		return err
	}
	until := uint64(math.MaxUint64)
	if r.Form.Get("until") != "" {
		if until, err = request.Ordinal(r.Form, "until"); err != nil {
			return err
		}
	}
	info, err := h.Engine.Replay(r.Context(), caller, r.PathValue("id"), until, engine.StartRequest{
		Surface: request.SurfaceOf(r), IdempotencyKey: key,
	})
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
