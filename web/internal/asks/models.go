package asks

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Models renders the configured models, how they are chosen, what they were used
// for, and the standing approvals.
func (h *Sampling) Models(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := ui.ModelsPage{Models: h.Sampling.Models().All(), Standing: h.Sampling.Standings(caller)}
	var err error
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
	if err := h.Sampling.Revoke(caller, id); err != nil {
		return err
	}
	return response.RedirectOrAccept(w, r, h.Links.Models())
}
