package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/web/internal/artifacts"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/wire"
)

// messagesURL returns the URL of a page of a run's messages, or of their export if the
// parameter is "format". An empty one is none.
func messagesURL(ctx context.Context, r *timeline.Run, p *wire.Page, parameter string, seq uint64) string {
	query := url.Values{}
	for name, value := range map[string]string{"q": p.Text, "method": p.Method, "direction": string(p.Direction), "side": string(p.Side)} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if p.Recorded > 0 {
		query.Set("source", string(p.Source))
	}
	switch parameter {
	case "":
	case "format":
		query.Set(parameter, "jsonl")
	default:
		query.Set(parameter, strconv.FormatUint(seq, 10))
	}
	if len(query) == 0 {
		return site(ctx).RunMessages(r.ID)
	}
	return site(ctx).RunMessages(r.ID) + "?" + query.Encode()
}

func messageSourceURL(ctx context.Context, r *timeline.Run, source wire.Source) string {
	return messagesURL(ctx, r, &wire.Page{Source: source, Recorded: 1}, "", 0)
}

func messageURL(ctx context.Context, r *timeline.Run, p *wire.Page, m *wire.Message) string {
	u := site(ctx).RunMessage(r.ID, m.Seq)
	if p.Recorded > 0 {
		u += "?source=" + string(p.Source)
	}
	return u
}

// describeSource says what the page's messages are.
func describeSource(r *timeline.Run, p *wire.Page) string {
	if p.Source == wire.Log {
		return "Derived from the log: what an MCP client that can do everything gets of this run. Answers are shown as its responses, wherever they were given, without secrets."
	}
	text := "The messages as they went, without secrets, and without those of the connection itself."
	switch {
	case !p.HasClient:
		text += " No MCP client called this run: these are the upstream’s. What a client would get is derived from the log."
	case r.Upstream == "":
		text += " The other end is the client that called the run."
	default:
		text += " The other ends are the client that called the run and the upstream " + r.Upstream + "."
	}
	if p.Dropped > 0 {
		text += " " + humanize.CountOf(p.Dropped, "earlier message was", "earlier messages were") + " not kept."
	}
	return text
}

func directionName(p *wire.Page, d recording.Direction) string {
	switch {
	case p.Source == wire.Wire && d == recording.Out:
		return "Sent by Beam"
	case p.Source == wire.Wire:
		return "Received by Beam"
	case d == recording.Out:
		return "To the client"
	}
	return "From the client"
}

// messageRange says which messages a page has.
func messageRange(p *wire.Page) string {
	all := p.Earlier + len(p.Messages) + p.Later
	if len(p.Messages) == 0 {
		return "None of " + humanize.CountOf(all, "message", "messages")
	}
	return fmt.Sprintf("%s–%s of %s", humanize.Thousands(p.Earlier+1), humanize.Thousands(p.Earlier+len(p.Messages)), humanize.CountOf(all, "message", "messages"))
}

// arrow points from the client, on the left, to the upstream, on the right.
func arrow(m *wire.Message) string {
	if (m.Direction == recording.In) == (m.Side != recording.Upstream) {
		return "→"
	}
	return "←"
}

func describeDirection(m *wire.Message) string {
	end := "client"
	if m.Side == recording.Upstream {
		end = "upstream"
	}
	if m.Direction == recording.In {
		return "from the " + end + ":"
	}
	return "to the " + end + ":"
}

// shortMessageID returns the part of an id that tells the requests of a run apart.
func shortMessageID(m *wire.Message) string {
	if len(m.ID) >= runIDLength {
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

// shownMessage returns a message, or its beginning. What isn't one, or was cut, is a text.
func shownMessage(m *wire.Message) string {
	text, isText := artifacts.JSONString(m.Message)
	switch {
	case isText && isCutMessage(m), isText && m.Cut:
		return humanize.TruncateBytes(text, maxShownMessage, "") + " …"
	case isText:
		return text
	case isCutMessage(m):
		return humanize.TruncateBytes(string(m.Message), maxShownMessage, " …")
	}
	return form.Indent(m.Message)
}

// isCutMessage reports whether the list has only the beginning of a message.
func isCutMessage(m *wire.Message) bool { return len(m.Message) > maxShownMessage }

func openWhole(m *wire.Message) string {
	if m.Cut {
		return "Open what was recorded"
	}
	return "Open the whole message"
}

// replayArguments returns the arguments of a call that began a run, to make it again; empty
// if the message isn't one, or doesn't have them whole.
func replayArguments(r *timeline.Run, m *wire.Message) string {
	if m.Kind != recording.Request || m.Method != "tools/call" || m.Side == recording.Upstream || m.Direction != recording.In || m.Cut {
		return ""
	}
	var call struct {
		Params struct {
			Name         string
			Arguments    map[string]json.RawMessage
			RequestState string
		}
	}
	if json.Unmarshal(m.Message, &call) != nil || call.Params.RequestState != "" || call.Params.Name != r.Photon {
		return ""
	}
	args, err := json.Marshal(call.Params.Arguments)
	if err != nil || len(args) > maxRerunArguments {
		return ""
	}
	if call.Params.Arguments == nil {
		return "{}"
	}
	return string(args)
}
