package ui

import (
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

type traitBadge struct{ label, tooltip, class string }

func (t Traits) badges() []traitBadge {
	var badges []traitBadge
	add := func(has bool, label, tooltip, class string) {
		if has {
			badges = append(badges, traitBadge{label, tooltip, class})
		}
	}
	add(t.ReadOnly, "read-only", "Changes nothing", "")
	add(t.Destructive, "destructive", "May destroy something", "danger")
	add(t.Idempotent, "idempotent", "Running it again with the same input has no further effect", "")
	add(t.OpenWorld, "open-world", "Reaches beyond this machine", "")
	add(t.Durable, "durable", "Continues after a restart", "")
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
	{[]string{"g", "h"}, "then", "Go to the photons"},
	{[]string{"g", "r"}, "then", "Go to the runs"},
	{[]string{"g", "i"}, "then", "Go to the inbox"},
	{[]string{"j", "k"}, "and", "Next and previous question or row"},
	{[]string{"s"}, "", "Stop this run, after confirmation"},
	{[]string{"Ctrl", "Enter"}, "+", "Submit from any field of a form (⌘ Enter on a Mac)"},
	{[]string{"Esc"}, "", "Postpone the question and keep the draft"},
	{[]string{"?"}, "", "Show keyboard shortcuts"},
}

// A RunsPage is the list of runs in a state, or in any.
type RunsPage struct {
	State string // one of RunStates, or empty
	Runs  []RunLine
}

// RunStates are the states that the list of runs can be filtered by.
var RunStates = engine.States[:]

// updatesQuery returns the page parameter of the stream that updates the list of runs.
func (p RunsPage) updatesQuery() string {
	for _, s := range RunStates {
		if string(s) == p.State {
			return "runs&state=" + string(s)
		}
	}
	return "runs"
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

func anyVisible(photons []PhotonCard) bool {
	for _, p := range photons {
		if !p.Hidden {
			return true
		}
	}
	return false
}

// formatExpiry says when a question expires.
func formatExpiry(deadline time.Time) string {
	d := time.Until(deadline)
	if d <= 0 {
		return "has expired"
	}
	return "expires in " + humanize.Duration(d.Truncate(time.Second))
}
