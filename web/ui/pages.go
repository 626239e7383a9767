package ui

import (
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/web/timeline"
)

// AskPage is one question alone, on a page of its own. Errors and values are as
// for [AskForm].
func AskPage(c Chrome, o engine.OpenAsk, errs []generators.FieldError, values url.Values) templ.Component {
	v := newAskView(o, errs, values)
	v.ownPage = true
	v.noScript = c.Script == ""
	return askPage(c, v)
}

type traitBadge struct{ label, tooltip, class string }

func (t Traits) badges() []traitBadge {
	var words []traitBadge
	add := func(has bool, word, about, class string) {
		if has {
			words = append(words, traitBadge{word, about, class})
		}
	}
	add(t.ReadOnly, "read-only", "It changes nothing", "")
	add(t.Destructive, "destructive", "It may destroy something", "danger")
	add(t.Idempotent, "idempotent", "Running it again with the same input changes nothing more", "")
	add(t.OpenWorld, "open-world", "It reaches out beyond this machine", "")
	add(t.Durable, "durable", "It goes on after a restart", "")
	return words
}

func shortID(id string) string { return timeline.ShortID(id) }

func firstQuestionText(r RunLine) string { return questionText(r.Asks[0]) }

// questionText is what a question asks, in one line.
func questionText(o engine.OpenAsk) string {
	if o.Question == nil || o.Question.Message == "" {
		return o.Key
	}
	return o.Question.Message
}

// shortcuts is what the page's own script does at which keys.
var shortcuts = []struct {
	keys []string
	then string // between the keys
	does string
}{
	{[]string{"/"}, "", "Find a photon"},
	{[]string{"g", "h"}, "then", "Go to the photons"},
	{[]string{"g", "r"}, "then", "Go to the runs"},
	{[]string{"g", "i"}, "then", "Go to the inbox"},
	{[]string{"j", "k"}, "and", "Next and previous question, or row"},
	{[]string{"s"}, "", "Stop this run; asks before it does"},
	{[]string{"Ctrl", "Enter"}, "+", "Submit, from any field of a form; ⌘ Enter on a Mac"},
	{[]string{"Esc"}, "", "Put the question aside; what you typed stays"},
	{[]string{"?"}, "", "Show this"},
}

// A RunsPage is the list of runs in a state, or in any.
type RunsPage struct {
	State string // one of RunStates, or empty
	Runs  []RunLine
}

// RunStates are what the list of runs can be narrowed to.
var RunStates = []engine.State{engine.Running, engine.Waiting, engine.Completed, engine.Failed, engine.Stopped, engine.Interrupted}

func runsURL(s engine.State) templ.SafeURL {
	return templ.SafeURL("/runs?state=" + url.QueryEscape(string(s)))
}

// updatesQuery names what keeps the list of runs up to date.
func (p RunsPage) updatesQuery() string {
	for _, s := range RunStates {
		if string(s) == p.State {
			return "runs&state=" + string(s)
		}
	}
	return "runs"
}

// millisUntil is how many milliseconds there are until then.
func millisUntil(deadline time.Time) string {
	return strconv.FormatInt(max(time.Until(deadline), 0).Milliseconds(), 10)
}

func anyVisible(photons []PhotonCard) bool {
	for _, p := range photons {
		if !p.Hidden {
			return true
		}
	}
	return false
}

// formatExpiry says when a question does.
func formatExpiry(deadline time.Time) string {
	d := time.Until(deadline)
	if d <= 0 {
		return "has expired"
	}
	return "expires in " + formatDuration(d.Truncate(time.Second))
}
