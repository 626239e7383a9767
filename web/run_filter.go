package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/ui"
)

// parseRunFilter reads which runs a list is to have. An error says which parameter is wrong
// and what would be right.
func parseRunFilter(query url.Values) (ui.RunFilter, error) {
	f := ui.RunFilter{
		Text: strings.TrimSpace(query.Get("q")), Tool: strings.TrimSpace(query.Get("tool")), Caller: strings.TrimSpace(query.Get("caller")),
		State: query.Get("state"), Reason: query.Get("reason"), Since: query.Get("since"), Until: query.Get("until"),
	}
	if f.State != "" && !slices.Contains(ui.RunStates, engine.State(f.State)) {
		return f, problem.Errorf(http.StatusBadRequest, "The parameter state must be one of %s.", joinNames(ui.RunStates))
	}
	if f.Reason != "" && !slices.Contains(outcome.Reasons(), runlog.UnansweredReason(f.Reason)) {
		return f, problem.Errorf(http.StatusBadRequest, "The parameter reason must be one of %s.", joinNames(outcome.Reasons()))
	}
	for name, text := range map[string]string{"q": f.Text, "tool": f.Tool, "caller": f.Caller} {
		if len(text) > request.MaxText {
			return f, problem.Errorf(http.StatusBadRequest, "The parameter %s must be at most %d bytes long.", name, request.MaxText)
		}
	}
	for name, text := range map[string]string{"since": f.Since, "until": f.Until} {
		if _, err := parseFilterTime(text); err != nil {
			return f, problem.Errorf(http.StatusBadRequest, "The parameter %s must be a date such as 2006-01-02, which begins at 00:00 UTC, or a time such as 2006-01-02T15:04:05Z.", name)
		}
	}
	return f, nil
}

func joinNames[T ~string](values []T) string {
	var names []string
	for _, v := range values {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}

// parseFilterTime parses a date or a time; an empty text is the zero time.
func parseFilterTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	return time.Parse(time.RFC3339, text)
}

// A runMatcher decides which runs a list has.
type runMatcher struct {
	ui.RunFilter
	words        []string
	since, until time.Time // zero means any
	// The most runs that a search looks at, and the most inputs that it reads from logs.
	maxScanned, maxInputs int
}

func newRunMatcher(f ui.RunFilter) *runMatcher {
	m := &runMatcher{RunFilter: f, words: strings.Fields(strings.ToLower(f.Text)), maxScanned: maxScannedRuns, maxInputs: maxSearchedInputs}
	m.since, _ = parseFilterTime(f.Since) // it was checked
	if m.until, _ = parseFilterTime(f.Until); len(f.Until) == len(time.DateOnly) {
		m.until = m.until.AddDate(0, 0, 1) // the whole day
	}
	return m
}

// matches reports whether a list has a run, as far as the index tells.
func (m *runMatcher) matches(i *engine.Info) bool {
	switch {
	case m.State != "" && string(i.State) != m.State,
		m.Reason != "" && string(i.Reason) != m.Reason:
		return false
	}
	return m.matchesTime(i.Started) && m.matchesTool(i.Photon, i.Title) && m.matchesCaller(i.Owner, i.OwnerName)
}

func (m *runMatcher) matchesTime(at time.Time) bool {
	return (m.since.IsZero() || !at.Before(m.since)) && (m.until.IsZero() || at.Before(m.until))
}

func (m *runMatcher) matchesTool(name, title string) bool {
	return m.Tool == "" || containsFold(name, m.Tool) || containsFold(title, m.Tool)
}

func (m *runMatcher) matchesCaller(id, name string) bool {
	return m.Caller == "" || containsFold(id, m.Caller) || containsFold(name, m.Caller)
}

// matchesText reports whether the texts have all words.
func (m *runMatcher) matchesText(texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	for _, w := range m.words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// isPast reports whether no run that started before i can match.
func (m *runMatcher) isPast(i *engine.Info) bool {
	return !m.since.IsZero() && i.Started.Before(m.since)
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// A cursor of a list is the time of its last item and the item's id.
func formatCursor(at time.Time, id string) string {
	return strconv.FormatInt(at.UnixNano(), 10) + "-" + id
}

// parseCursor parses the parameter after; the zero time and no id is a list's beginning.
func parseCursor(query url.Values) (at time.Time, id string, err error) {
	cursor := query.Get("after")
	if cursor == "" {
		return at, "", nil
	}
	nanos, id, ok := strings.Cut(cursor, "-")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil || !ok || id == "" {
		return at, "", problem.Errorf(http.StatusBadRequest, "The parameter after is not from this list. Start without it.")
	}
	return time.Unix(0, n), id, nil
}

// Bounds on what one search looks at. A page says so when it stops at one.
const (
	maxScannedRuns    = 20_000
	maxSearchedInputs = 1_000 // of runs whose inputs must be read from their logs
)

// A runSearch is a page of the list of runs.
type runSearch struct {
	filter ui.RunFilter
	infos  []engine.Info
	next   string // the cursor of what follows; empty at the end
	// scanned is how many runs were looked at, if that many ended the search before its page
	// was full.
	scanned int
	oldest  time.Time // the start of the last of them
}

// searchRuns returns a page of the caller's runs that match, newest first.
func (s *Server) searchRuns(caller generators.Caller, m *runMatcher, after engine.Position, limit int) (page runSearch, err error) {
	scanned, read := 0, 0
	var last engine.Position
	for i, err := range s.engine.RunsAfter(caller, after) {
		switch {
		case err != nil:
			return page, err
		case m.isPast(&i):
			return page, nil
		case scanned == m.maxScanned || read == m.maxInputs:
			page.next, page.scanned, page.oldest = formatCursor(last.At, last.ID), scanned, last.At
			return page, nil
		}
		scanned++
		matches, fromLog := s.matchRun(caller, m, &i)
		if fromLog {
			read++
		}
		switch {
		case !matches:
		case len(page.infos) == limit:
			page.next = formatCursor(last.At, last.ID)
			return page, nil
		default:
			if full, err := s.engine.Info(caller, i.ID); err == nil { // with its questions; otherwise it was deleted meanwhile
				page.infos = append(page.infos, full)
			}
		}
		last = i.Position()
	}
	return page, nil
}

// matchRun reports whether a run matches, and whether its log had to be read for that.
func (s *Server) matchRun(caller generators.Caller, m *runMatcher, i *engine.Info) (matches, fromLog bool) {
	if !m.matches(i) || len(m.words) == 0 {
		return m.matches(i), false
	}
	input, fromLog := s.inputSummaries.get(*i, func() (string, bool) { return s.summarizeInput(caller, *i) })
	return m.matchesText(i.ID, i.Photon, i.Title, i.Error, i.OwnerName, input), fromLog
}
