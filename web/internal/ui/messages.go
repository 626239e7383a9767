package ui

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/wire"
)

// messagesURL returns the URL of a page of a run's messages, or of their export if the
// parameter is "format". An empty one is none.
func messagesURL(ctx context.Context, r *timeline.Run, f wire.Filter, parameter string, seq uint64) templ.SafeURL {
	query := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "method": f.Method, "direction": string(f.Direction)} {
		if value != "" {
			query.Set(name, value)
		}
	}
	switch parameter {
	case "":
	case "format":
		query.Set(parameter, "jsonl")
	default:
		query.Set(parameter, strconv.FormatUint(seq, 10))
	}
	if len(query) == 0 {
		return runMessagesURL(ctx, r.ID)
	}
	return runMessagesURL(ctx, r.ID) + templ.SafeURL("?"+query.Encode())
}

func runMessageURL(ctx context.Context, id string, seq uint64) templ.SafeURL {
	return templ.SafeURL(links.FromContext(ctx).RunMessage(id, seq))
}

// messageRange says which messages a page has.
func messageRange(p *wire.Page) string {
	all := p.Earlier + len(p.Messages) + p.Later
	if len(p.Messages) == 0 {
		return "None of " + humanize.CountOf(all, "message", "messages")
	}
	return fmt.Sprintf("%s–%s of %s", humanize.Thousands(p.Earlier+1), humanize.Thousands(p.Earlier+len(p.Messages)), humanize.CountOf(all, "message", "messages"))
}

func arrow(m *wire.Message) string {
	if m.Direction == wire.FromClient {
		return "→"
	}
	return "←"
}

func describeDirection(m *wire.Message) string {
	if m.Direction == wire.FromClient {
		return "from the client:"
	}
	return "to the client:"
}

// shortMessageID returns the part of an id that tells the requests of a run apart.
func shortMessageID(m *wire.Message) string {
	if len(m.ID) > 4 {
		return m.ID[:4] + m.ID[min(len(m.ID), runIDLength):]
	}
	return m.ID
}

// runIDLength is the length of a run's id, which begins the ids of its questions.
const runIDLength = 32

func describeMessageOutcome(m *wire.Message) string {
	switch {
	case m.By == "":
		return m.Outcome
	case m.Outcome == "":
		return describeSurface(m.By)
	}
	return m.Outcome + " " + describeAnswerer(m.By)
}

// maxShownMessage is how much of a message the list has, in bytes.
const maxShownMessage = 2000

// shownMessage returns a message, or its beginning.
func shownMessage(m *wire.Message) string {
	if isCutMessage(m) {
		return humanize.TruncateBytes(string(m.Message), maxShownMessage, " …")
	}
	return form.Indent(m.Message)
}

func isCutMessage(m *wire.Message) bool { return len(m.Message) > maxShownMessage }
