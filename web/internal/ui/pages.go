package ui

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// AskPage is the page of one question. Errors and values are as for [AskForm].
func AskPage(c Chrome, o engine.OpenAsk, errs []generators.FieldError, values url.Values) templ.Component {
	v := newAskView(o, errs, values)
	v.ownPage = true
	v.noScript = c.Script == ""
	return askPage(c, v)
}

// AskOnPage renders an open question anew on its own page, whose script shows it.
func AskOnPage(o engine.OpenAsk) templ.Component {
	v := newAskView(o, nil, nil)
	v.ownPage = true
	return askDialog(v)
}

// maxCardText is how many characters of a photon's description the first page shows.
const maxCardText = 400

type traitBadge struct{ label, tooltip, class string }

// badgesOf returns what a photon declares of itself.
func badgesOf(o generators.Options) []traitBadge {
	var badges []traitBadge
	add := func(has bool, label, tooltip, class string) {
		if has {
			badges = append(badges, traitBadge{label, tooltip, class})
		}
	}
	add(o.ReadOnly, "read-only", "Changes nothing", "")
	add(o.Destructive, "destructive", "May destroy something", "danger")
	add(o.Idempotent, "idempotent", "Running it again with the same input has no further effect", "")
	add(o.OpenWorld, "open-world", "Reaches beyond this machine", "")
	add(o.Durable, "durable", "Continues after a restart", "")
	return badges
}

func shortID(id string) string { return timeline.ShortID(id) }

func firstQuestionText(r RunLine) string { return questionText(r.Asks[0]) }

// questionText returns the question's message, or its key if it has none.
func questionText(o engine.OpenAsk) string {
	if o.Question == nil || o.Question.Message == "" {
		return o.Key
	}
	return o.Question.Message
}

// shortcuts are the keyboard shortcuts of beam.js.
var shortcuts = []struct {
	keys        []string
	separator   string // between the keys
	description string
}{
	{[]string{"/"}, "", "Find a photon"},
	{[]string{"Ctrl", "K"}, "+", "Find and open anything (⌘ K on a Mac)"},
	{[]string{"g", "h"}, "then", "Go to the photons"},
	{[]string{"g", "r"}, "then", "Go to the runs"},
	{[]string{"g", "i"}, "then", "Go to the inbox"},
	{[]string{"j", "k"}, "and", "Next and previous question or row"},
	{[]string{"s"}, "", "Stop this run, after confirmation"},
	{[]string{"Ctrl", "Enter"}, "+", "Submit from any field of a form (⌘ Enter on a Mac)"},
	{[]string{"Esc"}, "", "Postpone the question and keep the draft"},
	{[]string{"?"}, "", "Show keyboard shortcuts"},
}

// A RunFilter says which runs a list has. What is empty doesn't count.
type RunFilter struct {
	Text         string // words that the id, tool, error, owner or input contains
	Tool         string // part of the photon's name or title
	State        string // one of RunStates
	Reason       string // why a question of an unanswered run has no answer
	Caller       string // part of the owner's id or name
	Since, Until string // a date or a time
}

// isSet reports whether a list has only some runs.
func (f RunFilter) isSet() bool { return f != RunFilter{} }

// isDetailed reports whether the filter has more than the state and a text.
func (f RunFilter) isDetailed() bool {
	f.State, f.Text = "", ""
	return f.isSet()
}

// query returns the filter as a URL's query.
func (f RunFilter) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"q": f.Text, "tool": f.Tool, "state": f.State, "reason": f.Reason, "caller": f.Caller, "since": f.Since, "until": f.Until,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// A RunsPage is a page of the list of runs.
type RunsPage struct {
	RunFilter
	Runs        []RunLine
	After, Next string // the cursors of this page and of the one that follows; empty if it is the first or the last
	// Scanned is how many runs were looked at, of which Oldest is when the last one started,
	// if the search ended there; otherwise 0.
	Scanned int
	Oldest  time.Time
	OfAll   bool // the list has all owners' runs
}

// RunStates are the states that the list of runs can be filtered by.
var RunStates = engine.States[:]

// runsQueryURL returns the URL of a page of the list of runs.
func runsQueryURL(ctx context.Context, f RunFilter, after string) string {
	return filterURL(site(ctx).Runs(), f, after)
}

// filterURL returns the URL of a page of a list.
func filterURL(list string, f RunFilter, after string) string {
	query := f.query()
	if after != "" {
		query.Set("after", after)
	}
	if len(query) == 0 {
		return list
	}
	return list + "?" + query.Encode()
}

// An InboxPage is a page of the open questions.
type InboxPage struct {
	RunFilter
	Asks        []InboxLine
	Count       int    // of all open questions
	After, Next string // the cursors of this page and of the one that follows; empty if it is the first or the last
	Scanned     int    // how many questions were looked at, if the search ended there; otherwise 0
	OfAll       bool   // the list has all owners' questions
}

// needsSearch reports whether there may be more questions than are easily read.
func (p InboxPage) needsSearch() bool {
	return p.isSet() || p.Count > minSearchedAsks
}

// openAskURL returns the URL of the same page of the inbox with a question's form.
func openAskURL(ctx context.Context, p InboxPage, id string) string {
	query := p.query()
	if p.After != "" {
		query.Set("after", p.After)
	}
	query.Set("open", id)
	return site(ctx).Inbox() + "?" + query.Encode() + fragmentURL(askElementID(id))
}

// minSearchedAsks is how many open questions there are before the inbox offers a search.
const minSearchedAsks = 10

// withState returns the filter with another state, whose runs may have no reason.
func (f RunFilter) withState(state string) RunFilter {
	f.State, f.Reason = state, ""
	return f
}

// millisUntil returns the milliseconds until deadline, at least 0.
func millisUntil(deadline time.Time) string {
	return strconv.FormatInt(max(time.Until(deadline), 0).Milliseconds(), 10)
}

// A photonGroup is the photons of the first page under one heading.
type photonGroup struct {
	name    string // empty for the first, which needs no heading
	photons []PhotonCard
}

// groupPhotons groups photons, which are sorted by group.
func groupPhotons(photons []PhotonCard) []photonGroup {
	var groups []photonGroup
	for _, p := range photons {
		if n := len(groups); n == 0 || groups[n-1].name != p.Group {
			groups = append(groups, photonGroup{name: p.Group})
		}
		last := &groups[len(groups)-1]
		last.photons = append(last.photons, p)
	}
	return groups
}

// formatExpiry says when a question expires.
func formatExpiry(deadline time.Time) string {
	d := time.Until(deadline)
	if d <= 0 {
		return "has expired"
	}
	return "expires in " + humanize.Duration(d.Truncate(time.Second))
}
