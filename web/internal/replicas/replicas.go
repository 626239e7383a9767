// Package replicas serves the page of the processes that share the store.
package replicas

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/page"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Handlers serve the page to operators, if the store is shared.
type Handlers struct {
	Engine *engine.Engine
	Pages  *page.Renderer
	Logger *slog.Logger
}

// Show shows the replicas. JSON has numbers only if they are known: otherwise the error is that of
// counting.
func (h *Handlers) Show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	status, err := h.Engine.Replicas(r.Context())
	if request.WantsJSON(r) {
		if err != nil {
			return err
		}
		return response.JSON(w, http.StatusOK, status)
	}
	if err != nil {
		h.Logger.Warn("counting the runs of replicas", "err", err)
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.Replicas(h.Pages.Chrome(r, caller, "Replicas"), ui.ReplicasPage{Status: status, Uncounted: err != nil}))
}

// Patches returns a function that renders the replicas.
func (h *Handlers) Patches(r *http.Request, _ generators.Caller) func() []ui.Patch {
	return func() []ui.Patch {
		status, err := h.Engine.Replicas(r.Context())
		return ui.ListPatches(ui.ReplicaList(ui.ReplicasPage{Status: status, Uncounted: err != nil}))
	}
}

// Interval is how often the page is rendered again.
const Interval = time.Second
