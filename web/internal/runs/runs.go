// Package runs serves runs: lists of them, their pages and messages, and what is done with them.
package runs

import (
	"log/slog"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/site"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
	"github.com/photon-beam/beam/web/internal/wire"
)

// maxListedRuns is how many runs a list has at most.
const maxListedRuns = 200

// Handlers serve runs.
type Handlers struct {
	Engine   *engine.Engine
	Lists    *lists.Runs
	Loader   *timeline.Loader
	Messages *wire.Runs
	Site     *site.Site
	Pages    *page.Renderer
	Logger   *slog.Logger
}

// List lists the caller's runs.
func (h *Handlers) List(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	query := r.URL.Query()
	limit, err := request.Limit(query, maxListedRuns)
	if err != nil {
		return err
	}
	if !request.WantsJSON(r) && limit > lists.RunsPerPage {
		limit = lists.RunsPerPage
	}
	list, err := h.Lists.Find(query, caller, limit)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		page := map[string]any{"runs": response.NonNil(list.Infos)}
		if list.Next != "" {
			page["next"] = list.Next
		}
		return response.JSON(w, http.StatusOK, page)
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Runs(h.Pages.Chrome(r, caller, "Runs"), h.Lists.Page(query, caller, list)))
}

// Show shows a run.
func (h *Handlers) Show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	id := r.PathValue("id")
	info, err := h.Engine.Info(caller, id)
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, info)
	}
	r = r.WithContext(engine.WithPanics(r.Context()))
	if query := r.URL.Query(); query.Has("before") || query.Has("after") {
		return h.renderRows(w, r, caller, id)
	}
	run, err := h.Loader.Load(r.Context(), caller, id)
	if err != nil {
		return err
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.RunPage(h.Pages.Chrome(r, caller, run.Title+" "+run.ShortID()), run))
}

// renderRows renders a page of a run's rows.
func (h *Handlers) renderRows(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string) error {
	var window timeline.Window
	var err error
	if window.Before, err = request.Ordinal(r.URL.Query(), "before"); err != nil {
		return err
	}
	if window.After, err = request.Ordinal(r.URL.Query(), "after"); err != nil {
		return err
	}
	run, err := h.Loader.LoadWindow(r.Context(), caller, id, window)
	if err != nil {
		return err
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.RunRowsPage(h.Pages.Chrome(r, caller, run.Title+" "+run.ShortID()), run))
}

// Patches returns a function that renders the list of runs that a request's query describes.
func (h *Handlers) Patches(r *http.Request, caller generators.Caller) func() []ui.Patch {
	query := r.URL.Query()
	return func() []ui.Patch {
		list, err := h.Lists.Find(query, caller, lists.RunsPerPage)
		if err != nil || list.Filter.Text != "" { // a search may take too long to repeat it at every change
			return nil
		}
		return ui.ListPatches(ui.RunsList(h.Lists.Page(query, caller, list)))
	}
}
