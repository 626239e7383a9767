package login

import (
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/web/internal/ui"
)

// Account renders the page about who is signed in.
func (h *Handlers) Account(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	page := ui.AccountPage{Caller: caller, Name: callers.Describe(caller.ID, caller.Name), Sessions: h.Callers.HasSession(r), Everywhere: h.Callers.HasSession(r) && callers.IsPerson(caller)}
	return h.Pages.Render(w, r, http.StatusOK, ui.Account(h.Pages.Chrome(r, caller, "Account"), page))
}
