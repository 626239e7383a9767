package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/response"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

// How many questions a list has: at most, and on a page.
const (
	maxListedAsks = 200
	asksPerPage   = 50
)

func (s *Server) handleInbox(w http.ResponseWriter, r *http.Request, caller generators.Caller) error {
	query := r.URL.Query()
	limit, err := request.Limit(query, maxListedAsks)
	if err != nil {
		return err
	}
	if !request.WantsJSON(r) {
		page, err := new(inboxList).update(s.engine, caller, query)
		if err != nil {
			return err
		}
		return s.render(w, r, http.StatusOK, ui.Inbox(s.newChrome(r, caller, "Inbox"), page))
	}
	list, err := searchAsks(s.engine, caller, query, nil, limit)
	if err != nil {
		return err
	}
	count, err := s.engine.CountOpenAsks(caller)
	if err != nil {
		return err
	}
	page := map[string]any{"asks": response.NonNil(withoutEvidenceBodies(list.asks, func(engine.OpenAsk) bool { return false })), "count": count}
	if list.next != "" {
		page["next"] = list.next
	}
	response.JSON(w, http.StatusOK, page)
	return nil
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

// An askSearch is a page of the list of open questions.
type askSearch struct {
	filter  ui.RunFilter
	asks    []engine.OpenAsk
	next    string // the cursor of what follows; empty at the end
	scanned int    // how many questions were looked at, if that many ended the search; otherwise 0
}

// maxScannedAsks bounds the questions that one search looks at.
const maxScannedAsks = 2_000

// searchAsks returns the page of the caller's open questions that a query describes, oldest
// first. Questions on an earlier list aren't read again.
func searchAsks(e *engine.Engine, caller generators.Caller, query url.Values, earlier []engine.OpenAsk, limit int) (page askSearch, err error) {
	if page.filter, err = parseRunFilter(query); err != nil {
		return page, err
	}
	page.filter.State, page.filter.Reason = "", "" // an open question's run waits
	at, id, err := parseCursor(query)
	if err != nil {
		return page, err
	}
	m, scanned := newRunMatcher(page.filter), 0
	var last engine.Position
	for o, err := range e.InboxAfter(caller, engine.Position{At: at, ID: id}, earlier) {
		if err != nil {
			return page, err
		}
		if scanned == maxScannedAsks {
			page.next, page.scanned = formatCursor(last.At, last.ID), scanned
			return page, nil
		}
		scanned++
		if m.matchesAsk(&o) {
			if len(page.asks) == limit {
				page.next = formatCursor(last.At, last.ID)
				return page, nil
			}
			page.asks = append(page.asks, o)
		}
		last = o.Position()
	}
	return page, nil
}

// matchesAsk reports whether a list has a question.
func (m *runMatcher) matchesAsk(o *engine.OpenAsk) bool {
	var message string
	if o.Question != nil {
		message = o.Question.Message
	}
	return m.matchesTime(o.Since) && m.matchesTool(o.Photon, o.Title) && m.matchesCaller(o.Owner, o.OwnerName) &&
		m.matchesText(o.ID, o.Photon, o.Title, o.Key, o.OwnerName, message)
}

// An inboxList is a list of a caller's open questions that is kept up to date.
type inboxList struct{ asks []engine.OpenAsk }

// update returns the page of the inbox that a query describes, as it is now.
func (l *inboxList) update(e *engine.Engine, caller generators.Caller, query url.Values) (ui.InboxPage, error) {
	list, err := searchAsks(e, caller, query, l.asks, asksPerPage)
	if err != nil {
		return ui.InboxPage{}, err
	}
	count, err := e.CountOpenAsks(caller)
	if err != nil {
		return ui.InboxPage{}, err
	}
	opened := query.Get("open")
	l.asks = withoutEvidenceBodies(list.asks, func(o engine.OpenAsk) bool { return o.ID == opened || ui.HasBriefEvidence(o) })
	page := ui.InboxPage{
		RunFilter: list.filter, Asks: make([]ui.InboxLine, len(l.asks)), Count: count,
		After: query.Get("after"), Next: list.next, Scanned: list.scanned, OfAll: caller.HasRole(generators.RoleOperator),
	}
	for i, a := range l.asks {
		page.Asks[i].Open = a.ID == opened
		if page.Asks[i].OpenAsk = a; a.Owner != caller.ID {
			page.Asks[i].Owner = a.OwnerName
		}
	}
	return page, nil
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
	if errors.Is(err, engine.ErrSettled) && !request.WantsJSON(r) {
		return s.renderClosedAsk(w, r, caller, r.PathValue("id"), http.StatusOK)
	}
	if errors.Is(err, engine.ErrForbidden) && s.identifier != nil {
		return problem.Errorf(http.StatusForbidden, othersQuestion)
	}
	if err != nil {
		return err
	}
	if request.WantsJSON(r) {
		response.JSON(w, http.StatusOK, s.describeAsk(r, caller, open))
		return nil
	}
	if open.Reserved {
		return problem.Errorf(http.StatusForbidden, "%s Only %s can answer it. An operator who adopts the run becomes its owner.", othersQuestion, open.For)
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

// renderClosedAsk renders the page of a closed question. If the request is an answer from a
// form, which was too late, the page shows what was entered.
func (s *Server) renderClosedAsk(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string, status int) error {
	a, err := s.findSettledAsk(r, caller, id)
	switch {
	case err != nil:
		return err
	case a == nil:
		return engine.ErrAskNotFound
	}
	if r.Method == http.MethodPost && r.PostForm == nil {
		if err := request.ParseAnyForm(w, r); err != nil {
			s.logger.Debug("reading a late answer", "ask", id, "err", err) // such as large files
		}
	}
	return s.render(w, r, status, ui.AskClosedPage(s.newChrome(r, caller, a.Title), a, r.PostForm))
}

// renderUnanswerable says why a question can no longer be answered: as a patch for a
// page with script, as a whole page for a browser without. Other clients get the error.
func (s *Server) renderUnanswerable(w http.ResponseWriter, r *http.Request, caller generators.Caller, id string, err error) error {
	settled := errors.Is(err, engine.ErrSettled)
	switch {
	case settled && request.WantsHTML(r):
		return s.renderClosedAsk(w, r, caller, id, http.StatusConflict)
	case !request.IsDatastar(r):
		return err
	}
	if settled {
		if a, _ := s.findSettledAsk(r, caller, id); a != nil {
			return s.render(w, r, http.StatusOK, ui.AskClosedInDock(a))
		}
	}
	_, text, _ := problem.Classify(err)
	return s.render(w, r, http.StatusOK, ui.AskUnavailable(engine.OpenAsk{ID: id}, text))
}

// closedAskPatches returns the patches that show the outcome on the page of a closed
// question; none while the question is open.
func (s *Server) closedAskPatches(r *http.Request, caller generators.Caller, id string) []ui.Patch {
	open, err := s.engine.OpenAsk(r.Context(), caller, id)
	if err == nil && open.Excluded {
		return ui.ListPatches(ui.ExcludedReason(open))
	}
	if !errors.Is(err, engine.ErrSettled) {
		return nil
	}
	a, err := s.findSettledAsk(r, caller, id)
	if err != nil || a == nil {
		return nil
	}
	return ui.ListPatches(ui.AskClosed(a))
}
