// Package lists makes the lists of photons, runs and open questions that pages have, and
// searches them.
package lists

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/problem"
	"github.com/photon-beam/beam/web/internal/request"
	"github.com/photon-beam/beam/web/internal/ui"
)

// ParseFilter reads which runs a list is to have. An error says which parameter is wrong
// and what would be right.
func ParseFilter(query url.Values) (ui.RunFilter, error) {
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

// A Matcher decides which runs a list has.
type Matcher struct {
	ui.RunFilter
	words        Words
	since, until time.Time // zero means any
	// The most runs that a search looks at, and the most inputs that it reads from logs.
	MaxScanned, MaxInputs int
}

// NewMatcher returns a matcher for a filter that [ParseFilter] has returned.
func NewMatcher(f ui.RunFilter) *Matcher {
	m := &Matcher{RunFilter: f, words: NewWords(f.Text), MaxScanned: maxScannedRuns, MaxInputs: maxSearchedInputs}
	m.since, _ = parseFilterTime(f.Since) // it was checked
	if m.until, _ = parseFilterTime(f.Until); len(f.Until) == len(time.DateOnly) {
		m.until = m.until.AddDate(0, 0, 1) // the whole day
	}
	return m
}

// matches reports whether a list has a run, as far as the index tells.
func (m *Matcher) matches(i *engine.Info) bool {
	switch {
	case m.State != "" && string(i.State) != m.State,
		m.Reason != "" && string(i.Reason) != m.Reason:
		return false
	}
	return m.matchesTime(i.Started) && m.matchesTool(i.Photon, i.Title) && m.matchesCaller(i.Owner, i.OwnerName)
}

func (m *Matcher) matchesTime(at time.Time) bool {
	return (m.since.IsZero() || !at.Before(m.since)) && (m.until.IsZero() || at.Before(m.until))
}

func (m *Matcher) matchesTool(name, title string) bool {
	return m.Tool == "" || containsFold(name, m.Tool) || containsFold(title, m.Tool)
}

func (m *Matcher) matchesCaller(id, name string) bool {
	return m.Caller == "" || containsFold(id, m.Caller) || containsFold(name, m.Caller)
}

// isPast reports whether no run that started before i can match.
func (m *Matcher) isPast(i *engine.Info) bool {
	return !m.since.IsZero() && i.Started.Before(m.since)
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Words are the words of a search, in lower case.
type Words []string

// NewWords returns the words of a text.
func NewWords(text string) Words { return strings.Fields(strings.ToLower(text)) }

// Match reports whether the texts have all words, in upper or lower case.
func (w Words) Match(texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	for _, word := range w {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// formatCursor returns the cursor of what follows an item of a list: its time and its id.
func formatCursor(p engine.Position) string {
	return strconv.FormatInt(p.At.UnixNano(), 10) + "-" + p.ID
}

// parseCursor parses the parameter after; the zero position is a list's beginning.
func parseCursor(query url.Values) (engine.Position, error) {
	cursor := query.Get("after")
	if cursor == "" {
		return engine.Position{}, nil
	}
	nanos, id, ok := strings.Cut(cursor, "-")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil || !ok || id == "" {
		return engine.Position{}, problem.Errorf(http.StatusBadRequest, "The parameter after is not from this list. Start without it.")
	}
	return engine.Position{At: time.Unix(0, n), ID: id}, nil
}
