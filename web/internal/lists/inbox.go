package lists

import (
	"net/url"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/internal/ui"
)

// asksPerPage is how many questions a page of the inbox has.
const asksPerPage = 50

// WithoutEvidence returns questions without the bodies of what they show, but of
// those for which keep returns true, so that a list of many stays small.
func WithoutEvidence(asks []engine.OpenAsk, keep func(engine.OpenAsk) bool) []engine.OpenAsk {
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

// An AskSearch is a page of the list of open questions.
type AskSearch struct {
	Filter  ui.RunFilter
	Asks    []engine.OpenAsk
	Next    string // the cursor of what follows; empty at the end
	Scanned int    // how many questions were looked at, if that many ended the search; otherwise 0
}

// maxScannedAsks bounds the questions that one search looks at.
const maxScannedAsks = 2_000

// SearchAsks returns the page of the caller's open questions that a query describes, oldest
// first. Questions on an earlier list aren't read again.
func SearchAsks(e *engine.Engine, caller generators.Caller, query url.Values, earlier []engine.OpenAsk, limit int) (page AskSearch, err error) {
	if page.Filter, err = ParseFilter(query); err != nil {
		return page, err
	}
	page.Filter.State, page.Filter.Reason = "", "" // an open question's run waits
	after, err := parseCursor(query)
	if err != nil {
		return page, err
	}
	m, scanned := NewMatcher(page.Filter), 0
	var last engine.Position
	for o, err := range e.InboxAfter(caller, after, earlier) {
		if err != nil {
			return page, err
		}
		if scanned == maxScannedAsks {
			page.Next, page.Scanned = formatCursor(last), scanned
			return page, nil
		}
		scanned++
		if m.matchesAsk(&o) {
			if len(page.Asks) == limit {
				page.Next = formatCursor(last)
				return page, nil
			}
			page.Asks = append(page.Asks, o)
		}
		last = o.Position()
	}
	return page, nil
}

// matchesAsk reports whether a list has a question.
func (m *Matcher) matchesAsk(o *engine.OpenAsk) bool {
	var message string
	if o.Question != nil {
		message = o.Question.Message
	}
	return m.matchesTime(o.Since) && m.matchesTool(o.Photon, o.Title) && m.matchesCaller(o.Owner, o.OwnerName) &&
		m.words.Match(o.ID, o.Photon, o.Title, o.Key, o.OwnerName, message)
}

// An Inbox is a list of a caller's open questions that is kept up to date.
type Inbox struct{ asks []engine.OpenAsk }

// Update returns the page of the inbox that a query describes, as it is now.
func (l *Inbox) Update(e *engine.Engine, caller generators.Caller, query url.Values) (ui.InboxPage, error) {
	list, err := SearchAsks(e, caller, query, l.asks, asksPerPage)
	if err != nil {
		return ui.InboxPage{}, err
	}
	count, err := e.CountOpenAsks(caller)
	if err != nil {
		return ui.InboxPage{}, err
	}
	opened := query.Get("open")
	l.asks = WithoutEvidence(list.Asks, func(o engine.OpenAsk) bool { return o.ID == opened || ui.HasBriefEvidence(o) })
	page := ui.InboxPage{
		RunFilter: list.Filter, Asks: make([]ui.InboxLine, len(l.asks)), Count: count,
		After: query.Get("after"), Next: list.Next, Scanned: list.Scanned, OfAll: caller.HasRole(generators.RoleOperator),
	}
	for i, a := range l.asks {
		page.Asks[i].Open = a.ID == opened
		if page.Asks[i].OpenAsk = a; a.Owner != caller.ID {
			page.Asks[i].Owner = a.OwnerName
		}
	}
	return page, nil
}
