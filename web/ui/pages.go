package ui

import (
	"net/url"
	"time"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/web/timeline"
)

// AskPage is one question alone, on a page of its own. Errors and values are as
// for [AskForm].
func AskPage(c Chrome, o run.Open, errs []generators.FieldError, values url.Values) templ.Component {
	v := newAskView(o, errs, values)
	v.alone = true
	v.plain = c.Script == ""
	return askPage(c, v)
}

type traitWord struct{ word, about, class string }

func (t Traits) words() []traitWord {
	var words []traitWord
	add := func(has bool, word, about, class string) {
		if has {
			words = append(words, traitWord{word, about, class})
		}
	}
	add(t.ReadOnly, "read-only", "It changes nothing", "")
	add(t.Destructive, "destructive", "It may destroy something", "danger")
	add(t.Idempotent, "idempotent", "Running it again with the same input changes nothing more", "")
	add(t.OpenWorld, "open-world", "It reaches out beyond this machine", "")
	add(t.Durable, "durable", "It goes on after a restart", "")
	return words
}

func shortID(id string) string { return timeline.Short(id) }

func firstMessage(r run.Info) string { return message(r.Asks[0]) }

// message is what a question asks, in one line.
func message(o run.Open) string {
	if o.Question == nil || o.Question.Message == "" {
		return o.Key
	}
	return o.Question.Message
}

func inboxTitle(n int) string {
	if n == 0 {
		return "Inbox"
	}
	return "(" + grouped(n) + ") Inbox"
}

// expires says when a question does.
func expires(deadline time.Time) string {
	d := time.Until(deadline)
	if d <= 0 {
		return "has expired"
	}
	return "expires in " + took(d.Truncate(time.Second))
}
