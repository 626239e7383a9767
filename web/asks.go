package web

import (
	"errors"
	"net/http"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// maxListedAsks is how many questions the inbox lists.
const maxListedAsks = 200

func (s *Server) handleInbox(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"asks": nonNil(withoutEvidenceBodies(s.engine.Inbox(caller, maxListedAsks), func(engine.OpenAsk) bool { return false })), "count": s.engine.CountOpenAsks(caller)})
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.Inbox(s.newChrome(r, caller, "Inbox"), new(inboxList).update(s.engine, caller)))
}

// withoutEvidenceBodies returns questions without the bodies of what they show, but of
// those for which keep returns true, so that a list of many stays small.
func withoutEvidenceBodies(asks []engine.OpenAsk, keep func(engine.OpenAsk) bool) []engine.OpenAsk {
	for i, a := range asks {
		if a.Question == nil || len(a.Question.Evidence) == 0 || keep(a) {
			continue
		}
		q := *a.Question
		q.Evidence = make([]*generators.Artifact, len(a.Question.Evidence))
		for n, e := range a.Question.Evidence {
			q.Evidence[n] = &generators.Artifact{Title: e.Title, MediaType: e.MediaType, URI: e.URI, Size: e.Size}
		}
		asks[i].Question = &q
	}
	return asks
}

// An inboxList is a list of a caller's open questions that is kept up to date.
type inboxList struct{ asks []engine.OpenAsk }

// update returns the caller's open questions as the inbox lists them now.
func (l *inboxList) update(e *engine.Engine, caller generators.Caller) []ui.InboxLine {
	l.asks = withoutEvidenceBodies(e.UpdateInbox(caller, maxListedAsks, l.asks), ui.HasBriefEvidence)
	lines := make([]ui.InboxLine, len(l.asks))
	for i, a := range l.asks {
		if lines[i].OpenAsk = a; a.Owner != caller.ID {
			lines[i].Owner = a.OwnerName
		}
	}
	return lines
}

// askPattern is the route of handleAsk.
const askPattern = "GET /asks/{id}"

// othersQuestion warns somebody who opens the page of a question that was put to somebody
// else: whoever sent the address would get what is entered there (MCP, Elicitation,
// Phishing).
const othersQuestion = "This question was put to somebody else. If someone sent you its address, close this page: what you enter would go to their tool."

// handleAsk renders the page of one question, which links to questions lead to. MCP
// clients send people there to answer secrets and files, which only the person may use
// whose client that is.
func (s *Server) handleAsk(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	open, err := s.engine.OpenAsk(r.Context(), caller, r.PathValue("id"))
	if errors.Is(err, engine.ErrSettled) && !wantsJSON(r) {
		return s.renderClosedAsk(w, r, caller, r.PathValue("id"), http.StatusOK)
	}
	if errors.Is(err, engine.ErrForbidden) && s.identifier != nil {
		return statusErrorf(http.StatusForbidden, othersQuestion)
	}
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, s.describeAsk(r, caller, open))
		return nil
	}
	if open.Reserved {
		return statusErrorf(http.StatusForbidden, "%s Only %s can answer it. An operator who adopts the run becomes its owner.", othersQuestion, open.For)
	}
	if s.isForModel(open) && !open.AskOnly { // its run's page shows the reply as it arrives
		http.Redirect(w, r, s.askOnRunPage(open), http.StatusSeeOther)
		return nil
	}
	return s.render(w, r, http.StatusOK, ui.AskPage(s.newChrome(r, caller, open.Title), open, nil, nil))
}

// findSettledAsk returns a closed question with its outcome; nil if there is none.
func (s *Server) findSettledAsk(r *http.Request, caller generators.Caller, id string) (*timeline.Ask, error) {
	run, _, ok := runlog.SplitAskID(id)
	if !ok {
		return nil, nil
	}
	view, err := s.loadTimeline(r, caller, run)
	if errors.Is(err, engine.ErrForbidden) {
		view, err = s.loadAskTimeline(r, caller, run, id)
	}
	if errors.Is(err, engine.ErrRunNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return view.Ask(id), nil
}

// loadAskTimeline folds what a caller who can't use a run may see of a question.
func (s *Server) loadAskTimeline(r *http.Request, caller generators.Caller, run, id string) (*timeline.Run, error) {
	entries, err := s.engine.ReadAsk(r.Context(), caller, id)
	if err != nil {
		return nil, err
	}
	view := timeline.New(run)
	view.Viewer = caller
	for _, e := range entries {
		view.Apply(e)
	}
	if a := view.Ask(id); a != nil {
		a.AskOnly, a.OwnerName = true, callers.Describe(view.Owner.ID, view.Owner.Name)
	}
	return view, nil
}

// renderClosedAsk renders the page of a closed question.
func (s *Server) renderClosedAsk(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string, status int) error {
	a, err := s.findSettledAsk(r, caller, id)
	switch {
	case err != nil:
		return err
	case a == nil:
		return engine.ErrAskNotFound
	}
	return s.render(w, r, status, ui.AskClosedPage(s.newChrome(r, caller, a.Title), a))
}

// renderUnanswerable says why a question can no longer be answered: as a patch for a
// page with script, as a whole page for a browser without. Other clients get the error.
func (s *Server) renderUnanswerable(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string, err error) error {
	settled := errors.Is(err, engine.ErrSettled)
	switch {
	case settled && wantsHTML(r):
		return s.renderClosedAsk(w, r, caller, id, http.StatusConflict)
	case !isDatastarRequest(r):
		return err
	}
	if settled {
		if a, _ := s.findSettledAsk(r, caller, id); a != nil {
			return s.render(w, r, http.StatusOK, ui.AskClosedInDock(a))
		}
	}
	_, text, _ := classifyError(err)
	return s.render(w, r, http.StatusOK, ui.AskUnavailable(engine.OpenAsk{ID: id}, text))
}

// closedAskPatches returns the patches that show the outcome on the page of a closed
// question; none while the question is open.
func (s *Server) closedAskPatches(r *http.Request, caller generators.Caller, id string) []ui.Patch {
	_, err := s.engine.OpenAsk(r.Context(), caller, id)
	if !errors.Is(err, engine.ErrSettled) {
		return nil
	}
	a, err := s.findSettledAsk(r, caller, id)
	if err != nil || a == nil {
		return nil
	}
	return ui.ListPatches(ui.AskClosed(a))
}
