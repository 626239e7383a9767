// Package asks serves questions: their list, their pages, and the answers to them.
package asks

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/lists"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxListedAsks is how many questions a list has at most.
const maxListedAsks = 200

// Handlers serve questions: their list and their pages.
type Handlers struct {
	*Views
}

// List lists the open questions that the caller may answer.
func (h *Handlers) List(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	query := r.URL.Query()
	limit, err := request.Limit(query, maxListedAsks)
	if err != nil {
		return err
	}
	if !request.WantsJSON(r) {
		page, err := new(lists.Inbox).Update(h.Engine, caller, query)
		if err != nil {
			return err
		}
		return h.Pages.Render(w, r, http.StatusOK, ui.Inbox(h.Pages.Chrome(r, caller, "Inbox"), page))
	}
	list, err := lists.SearchAsks(h.Engine, caller, query, nil, limit)
	if err != nil {
		return err
	}
	count, err := h.Engine.CountOpenAsks(caller)
	if err != nil {
		return err
	}
	page := map[string]any{"asks": response.NonNil(lists.WithoutEvidence(list.Asks, func(engine.OpenAsk) bool { return false })), "count": count}
	if list.Next != "" {
		page["next"] = list.Next
	}
	return response.JSON(w, http.StatusOK, page)
}

// Pattern is the route of [Handlers.Show].
const Pattern = "GET /asks/{id}"

// OthersQuestion warns somebody who opens the page of a question that was put to somebody
// else: whoever sent the address would get what is entered there (MCP, Elicitation,
// Phishing).
const OthersQuestion = "This question was put to somebody else. If someone sent you its address, close this page: what you enter would go to their tool."

// Show renders the page of one question, which links to questions lead to. MCP
// clients send people there to answer secrets and files, which only the person may use
// whose client that is.
func (h *Handlers) Show(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	open, err := h.Engine.OpenAsk(r.Context(), caller, r.PathValue("id"))
	if errors.Is(err, engine.ErrSettled) && !request.WantsJSON(r) {
		return h.renderClosed(w, r, caller, r.PathValue("id"), http.StatusOK)
	}
	if errors.Is(err, engine.ErrForbidden) && h.OwnSignIn {
		return problem.Errorf(http.StatusForbidden, OthersQuestion)
	}
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		return response.JSON(w, http.StatusOK, h.describe(r, caller, open))
	}
	if open.Reserved {
		return problem.Errorf(http.StatusForbidden, "%s Only %s can answer it. An operator who adopts the run becomes its owner.", OthersQuestion, open.For)
	}
	if h.isForModel(open) && !open.AskOnly { // its run's page shows the reply as it arrives
		http.Redirect(w, r, h.onRunPage(open), http.StatusSeeOther)
		return nil
	}
	return h.Pages.Render(w, r, http.StatusOK, ui.AskPage(h.Pages.Chrome(r, caller, open.Title), open, nil, nil))
}

// ListPatches returns a function that renders the inbox that a request's query describes.
func (h *Handlers) ListPatches(r *http.Request, caller generators.Caller) func() []ui.Patch {
	query, inbox := r.URL.Query(), new(lists.Inbox)
	return func() []ui.Patch {
		page, err := inbox.Update(h.Engine, caller, query)
		if err != nil {
			return nil
		}
		return ui.ListPatches(ui.InboxList(page))
	}
}

// Patches returns a function that renders, for the page of a question, the outcome once it is
// closed, and the question if its run is parked or goes on.
func (h *Handlers) Patches(r *http.Request, caller generators.Caller) func() []ui.Patch {
	id, shown := r.URL.Query().Get("ask"), r.URL.Query().Has("parked")
	isStale := r.Header.Get("Last-Event-ID") != "" // it may have been parked, and gone on, meanwhile
	return func() []ui.Patch {
		open, err := h.Engine.OpenAsk(r.Context(), caller, id)
		if parked := open.Parked != nil; err == nil && (parked != shown || isStale) {
			shown, isStale = parked, false
			return ui.ListPatches(ui.AskOnPage(open))
		}
		if err == nil && open.Excluded {
			return ui.ListPatches(ui.ExcludedReason(open))
		}
		if !errors.Is(err, engine.ErrSettled) {
			return nil
		}
		a, err := h.Loader.LoadAsk(r.Context(), caller, id)
		if err != nil || a == nil {
			return nil
		}
		return ui.ListPatches(ui.AskClosed(a))
	}
}
