// Package wire lists a run's messages: those that were recorded as they went, or those that
// an MCP client with all capabilities would have, which it derives from the log: the call,
// what the run tells and asks, the responses, and the result. It knows no HTTP and no HTML.
package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// A Message is a JSON-RPC message of a run.
type Message = recording.Message

// A Direction is where a message goes.
type Direction = recording.Direction

// The directions.
const (
	ToClient   = recording.Out
	FromClient = recording.In
)

// A View translates a log into messages. It must see the log from its beginning.
type View struct {
	renderer *sse.JSONRPCRenderer
	id       string
	started  time.Time
	asks     map[uint64]request
}

// A request is one that has no response yet.
type request struct {
	method string
	at     time.Time
	secret bool
}

// NewView returns a view of a run whose messages for the client the renderer translates.
func NewView(id string, renderer *sse.JSONRPCRenderer) *View {
	return &View{renderer: renderer, id: id, asks: make(map[uint64]request)}
}

// Translate returns the message of the next entry; false if it has none.
func (v *View) Translate(e runlog.Entry) (m Message, ok bool, err error) {
	t := &translation{View: v}
	t.Rest = t.notify
	err = e.Visit(t)
	return t.message, t.message.Seq > 0 && err == nil, err
}

// A translation visits an entry. Its message has no ordinal if there is none.
type translation struct {
	runlog.Rest
	*View
	message Message
}

// render sets the message to what the run's client gets, and reports whether that is anything.
func (t *translation) render(e runlog.Entry) (ok bool, err error) {
	rendered, err := t.renderer.Render([]runlog.Entry{e})
	if err != nil || len(rendered) == 0 {
		return false, err
	}
	data := rendered[0].Data
	t.message = Message{Seq: e.Seq, Time: e.Time, Direction: ToClient, Kind: "notification", Method: methodOf(data), Message: data, Size: len(data)}
	return true, nil
}

func (t *translation) notify(e runlog.Entry) error {
	_, err := t.render(e)
	return err
}

// methodOf returns the method of a message.
func methodOf(raw json.RawMessage) string {
	var head struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(raw, &head) // the message is ours
	return head.Method
}

// Started becomes the request that started the run.
func (t *translation) Started(e runlog.Entry, d runlog.Started) error {
	t.started = e.Time
	if _, err := t.render(e); err != nil {
		return err
	}
	params := map[string]any{"name": d.Photon, "_meta": map[string]string{"progressToken": t.id}}
	if len(d.Args) > 0 {
		params["arguments"] = d.Args
	}
	raw := message.Encode(message.Outgoing{ID: message.StringID(t.id), Method: methodCall, Params: params})
	t.message = Message{
		Seq: e.Seq, Time: e.Time, Direction: FromClient, Kind: "request", Method: methodCall, ID: t.id,
		Message: raw, Size: len(raw), By: d.Surface,
	}
	return nil
}

const methodCall = "tools/call"

func (t *translation) Asked(e runlog.Entry, d runlog.Asked) error {
	ok, err := t.render(e)
	if ok {
		m := &t.message
		m.Kind, m.ID = "request", runlog.AskID(t.id, e.Seq)
		t.asks[e.Seq] = request{m.Method, e.Time, d.Question == nil || d.Question.Kind == askdata.KindSecret}
	}
	return err
}

// Answered becomes the response to the question's request, wherever it was given. It has no
// secrets.
func (t *translation) Answered(e runlog.Entry, d runlog.Answered) error {
	if _, err := t.render(e); err != nil {
		return err
	}
	asked := t.asks[d.AskSeq]
	delete(t.asks, d.AskSeq)
	id := runlog.AskID(t.id, d.AskSeq)
	raw := message.Encode(message.Outgoing{ID: message.StringID(id), Result: resultOf(asked, d.Answer)})
	t.message = Message{
		Seq: e.Seq, Time: e.Time, Direction: FromClient, Kind: "response", Method: asked.method, ID: id,
		Duration: millisBetween(asked.at, e.Time), Outcome: string(d.Answer.Action), By: d.Surface, Message: raw, Size: len(raw),
	}
	return nil
}

// resultOf returns an answer as a client's result.
func resultOf(asked request, a askdata.Answer) any {
	if a.Action == askdata.Accept && len(a.Content) > 0 && asked.method != "elicitation/create" {
		return a.Content
	}
	result := map[string]any{"action": a.Action}
	if len(a.Content) > 0 && !asked.secret {
		result["content"] = a.Content
	}
	return result
}

// Finished becomes the response to the call.
func (t *translation) Finished(e runlog.Entry, d runlog.Finished) error {
	ok, err := t.render(e)
	if ok {
		m := &t.message
		m.Kind, m.Method, m.ID, m.Duration, m.Outcome = "response", methodCall, t.id, millisBetween(t.started, e.Time), string(d.Status)
		if reason := d.Reason(); reason != "" {
			m.Outcome += ", " + string(reason)
		}
	}
	return err
}

func millisBetween(from, to time.Time) int64 {
	if from.IsZero() {
		return 0
	}
	return max(to.Sub(from), 0).Milliseconds()
}

// A Filter selects messages. What is empty doesn't count.
type Filter struct {
	Text      string // is part of the message
	Method    string
	Direction Direction
	Side      recording.Side
}

// IsSet reports whether the filter selects only some messages.
func (f Filter) IsSet() bool { return f != Filter{} }

// Matches reports whether the filter selects a message.
func (f Filter) Matches(m *Message) bool {
	return (f.Method == "" || f.Method == m.Method) && (f.Direction == "" || f.Direction == m.Direction) && (f.Side == "" || f.Side == m.Side) &&
		(f.Text == "" || bytes.Contains(bytes.ToLower(m.Message), []byte(strings.ToLower(f.Text))) || strings.Contains(m.ID, f.Text))
}

// Methods are the methods of messages that are derived from the log.
var Methods = []string{methodCall, "notifications/progress", "notifications/message", "elicitation/create", "sampling/createMessage", "roots/list", "notifications/cancelled"}
