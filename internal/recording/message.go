// Package recording keeps the messages of runs as they went between Beam and the clients
// that called the runs, and between Beam and the servers whose tools they called.
//
// It is for people who look at a run. The log doesn't depend on it: what a recording
// lacks, because it is bounded or because the process was killed, is not known any more.
package recording

import (
	"encoding/json"
	"strconv"
	"time"
)

// A Side is who the other end of a message is.
type Side string

// The sides. Messages that are derived from the log have none.
const (
	Client   Side = "client"   // the client that called the run
	Upstream Side = "upstream" // the server whose tool the run calls
)

// A Direction is where a message goes, as Beam sees it.
type Direction string

// The directions.
const (
	Out Direction = "out"
	In  Direction = "in"
)

// The kinds of messages.
const (
	Request      = "request"
	Response     = "response"
	Notification = "notification"
	Invalid      = "invalid" // no JSON-RPC message
)

// A Message is a JSON-RPC message of a run.
type Message struct {
	// Seq numbers the messages of a recording from 1, without gaps. Of a message that is
	// derived from the log, it is the ordinal of its entry.
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Side      Side      `json:"side,omitempty"`
	Peer      string    `json:"peer,omitempty"` // what the other end is called
	Direction Direction `json:"direction"`
	Kind      string    `json:"kind"`
	Method    string    `json:"method"`       // of a response, that of its request
	ID        string    `json:"id,omitempty"` // of a request or a response
	// Duration is how long a response took, in milliseconds.
	Duration int64 `json:"durationMs,omitempty"`
	Size     int   `json:"size"` // bytes of the message as it went
	// Outcome says how a request ended, on its response.
	Outcome string `json:"outcome,omitempty"`
	By      string `json:"by,omitempty"` // the surface that an answer came from
	// Message is the message. If it is cut, it is a text with its beginning; if its upstream
	// keeps no contents, a text that says so.
	Message json.RawMessage `json:"message"`
	Cut     bool            `json:"cut,omitempty"`
}

// An Observed is a message as it went.
type Observed struct {
	Side      Side
	Peer      string
	Direction Direction
	Data      []byte
	// Size is the size of the message, if Data isn't the whole of it; 0 if it is.
	Size int
}

// An envelope is what a message says besides its contents.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  *struct {
		Code json.RawMessage `json:"code"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

// newMessage returns the message that was observed, without what only its recording knows.
func newMessage(o *Observed) Message {
	m := Message{Side: o.Side, Peer: o.Peer, Direction: o.Direction, Size: max(o.Size, len(o.Data)), Cut: o.Size > len(o.Data), Kind: Invalid}
	var e envelope
	if json.Unmarshal(o.Data, &e) != nil {
		return m
	}
	m.ID, m.Method = textOf(e.ID), e.Method
	switch {
	case m.Method != "" && m.ID != "":
		m.Kind = Request
	case m.Method != "":
		m.Kind = Notification
	case m.ID != "" || e.Error != nil:
		m.Kind, m.Outcome = Response, e.outcome()
	}
	return m
}

// textOf returns an id as a text; "" if it is missing or null.
func textOf(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) != nil {
		text = string(id)
	}
	return text
}

// outcome says how a request ended that this is the response to.
func (e *envelope) outcome() string {
	if e.Error != nil {
		return "error " + string(e.Error.Code)
	}
	var result struct {
		Action     string          `json:"action"`
		IsError    bool            `json:"isError"`
		ResultType string          `json:"resultType"`
		Task       json.RawMessage `json:"task"`
	}
	_ = json.Unmarshal(e.Result, &result) // what has another type says nothing
	switch {
	case result.Action != "":
		return result.Action
	case result.IsError:
		return "failed"
	case result.ResultType == "input_required":
		return "input required"
	case result.ResultType == "task" || result.Task != nil:
		return "task"
	}
	return "completed"
}

// requestKey identifies a request and its response. The two sides, and the two ends of
// each, number their requests independently.
func (m *Message) requestKey(requestWay Direction) string {
	return string(m.Side) + " " + string(requestWay) + " " + strconv.Quote(m.Peer) + " " + m.ID
}

// weight is how much room a message takes, in bytes.
func (m *Message) weight() int { return len(m.Message) + len(m.ID) + len(m.Method) + 200 }
