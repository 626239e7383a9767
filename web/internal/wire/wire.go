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
	switch e.Kind {
	case runlog.KindStarted:
		return v.call(e)
	case runlog.KindAnswered:
		return v.response(e)
	}
	rendered, err := v.renderer.Render([]runlog.Entry{e})
	if err != nil || len(rendered) == 0 {
		return Message{}, false, err
	}
	m = Message{Seq: e.Seq, Time: e.Time, Direction: ToClient, Kind: "notification", Message: rendered[0].Data, Size: len(rendered[0].Data)}
	switch e.Kind {
	case runlog.KindAsked:
		v.addRequest(&m, e)
	case runlog.KindFinished:
		return v.result(m, e)
	default:
		m.Method = methodOf(m.Message)
	}
	return m, true, nil
}

// methodOf returns the method of a message.
func methodOf(raw json.RawMessage) string {
	var head struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(raw, &head) // the message is ours
	return head.Method
}

// call returns the request that started the run.
func (v *View) call(e runlog.Entry) (Message, bool, error) {
	started, err := runlog.Decode[runlog.Started](e)
	if err != nil {
		return Message{}, false, err
	}
	v.started = e.Time
	if _, err := v.renderer.Render([]runlog.Entry{e}); err != nil {
		return Message{}, false, err
	}
	params := map[string]any{"name": started.Photon, "_meta": map[string]string{"progressToken": v.id}}
	if len(started.Args) > 0 {
		params["arguments"] = started.Args
	}
	raw := message.Encode(message.Outgoing{ID: message.StringID(v.id), Method: methodCall, Params: params})
	return Message{
		Seq: e.Seq, Time: e.Time, Direction: FromClient, Kind: "request", Method: methodCall, ID: v.id,
		Message: raw, Size: len(raw), By: started.Surface,
	}, true, nil
}

const methodCall = "tools/call"

func (v *View) addRequest(m *Message, e runlog.Entry) {
	m.Kind, m.Method, m.ID = "request", methodOf(m.Message), runlog.AskID(v.id, e.Seq)
	asked, err := runlog.Decode[runlog.Asked](e)
	v.asks[e.Seq] = request{m.Method, e.Time, err != nil || asked.Question == nil || asked.Question.Kind == askdata.KindSecret}
}

// response returns an answer as the response to the question's request, wherever it was
// given. It has no secrets.
func (v *View) response(e runlog.Entry) (Message, bool, error) {
	answered, err := runlog.Decode[runlog.Answered](e)
	if err != nil {
		return Message{}, false, err
	}
	if _, err := v.renderer.Render([]runlog.Entry{e}); err != nil {
		return Message{}, false, err
	}
	asked := v.asks[answered.AskSeq]
	delete(v.asks, answered.AskSeq)
	id := runlog.AskID(v.id, answered.AskSeq)
	raw := message.Encode(message.Outgoing{ID: message.StringID(id), Result: resultOf(asked, answered.Answer)})
	return Message{
		Seq: e.Seq, Time: e.Time, Direction: FromClient, Kind: "response", Method: asked.method, ID: id,
		Duration: millisBetween(asked.at, e.Time), Outcome: string(answered.Answer.Action), By: answered.Surface, Message: raw, Size: len(raw),
	}, true, nil
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

// result returns the response to the call.
func (v *View) result(m Message, e runlog.Entry) (Message, bool, error) {
	end, err := runlog.Decode[runlog.Finished](e)
	if err != nil {
		return Message{}, false, err
	}
	m.Kind, m.Method, m.ID, m.Duration, m.Outcome = "response", methodCall, v.id, millisBetween(v.started, e.Time), string(end.Status)
	if reason := end.Reason(); reason != "" {
		m.Outcome += ", " + string(reason)
	}
	return m, true, nil
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
