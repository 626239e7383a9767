package log

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
)

// Started is the first entry of a run.
type Started struct {
	Photon  string `json:"photon"`
	Title   string `json:"title"`
	Durable bool   `json:"durable,omitempty"`
	// Version is the photon's own, if it has one; see [generators.Options].
	Version string          `json:"version,omitempty"`
	Owner   string          `json:"owner"`
	Surface string          `json:"surface"` // where it was started: browser, http, mcp, mcp task, terminal
	Args    json.RawMessage `json:"args"`
	// Idempotency is the caller's Idempotency-Key, if it gave one.
	Idempotency string `json:"idempotency,omitempty"`
	// Trace is the trace that the run is a part of; nil if it is in none.
	Trace *Trace `json:"trace,omitempty"`
	// Keep is how long after its start the run is kept at least, once it has
	// ended.
	Keep ask.Millis `json:"keep,omitempty"`
}

// Trace is a trace context, in the header formats of W3C Trace Context and W3C
// Baggage.
type Trace struct {
	Parent  string `json:"traceparent"`
	State   string `json:"tracestate,omitempty"`
	Baggage string `json:"baggage,omitempty"`
}

// Claimed says that a worker has taken the run up. A worker of a lower epoch
// may not write any more.
type Claimed struct {
	Epoch int `json:"epoch"`
}

// Asked says that a question is open. Its ask id is the run's id and this
// entry's ordinal; see [AskID].
type Asked struct {
	Key      string        `json:"key"`
	Question *ask.Question `json:"question"`
	// Deadline is when the question expires; zero if it doesn't.
	Deadline time.Time `json:"deadline,omitzero"`
	// Spent is how long the run has worked so far, waiting left out.
	Spent ask.Millis `json:"spent,omitempty"`
	// More tells that further questions follow at once, before the generator
	// waits; see [generators.Call].
	More bool `json:"more,omitempty"`
}

// Answered settles a question.
type Answered struct {
	Ask    uint64     `json:"ask"` // the ordinal of the Asked entry
	Answer ask.Answer `json:"answer"`
	// Sealed is the content of a secret answer, readable only with the run's
	// own key; Answer has none then.
	Sealed []byte `json:"sealed,omitempty"`
	By     string `json:"by"` // the surface that it came from
}

// Stepped records a step's outcome.
type Stepped struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
	Spent ask.Millis      `json:"spent,omitempty"`
}

// Withdrawn settles a question that nobody answered.
type Withdrawn struct {
	Ask    uint64 `json:"ask"`
	Reason Reason `json:"reason"`
	Error  string `json:"error,omitempty"` // what was in the way, for people
}

// Reason is why a question was withdrawn.
type Reason string

// The reasons.
const (
	Expired     Reason = "expired" // its time ran out
	RunEnded    Reason = "run ended"
	Unsupported Reason = "unsupported" // nobody could be asked
	Invalid     Reason = "invalid"     // the answers did not fit, too often
)

// Status is how a run ended.
type Status string

// The ends of a run.
const (
	Completed   Status = "completed"
	Failed      Status = "failed"
	Stopped     Status = "stopped"     // by a person
	Interrupted Status = "interrupted" // by the end of the process
)

// Finished is the last entry of a run.
type Finished struct {
	Status Status          `json:"status"`
	Result json.RawMessage `json:"result,omitempty"` // of a completed run
	Error  string          `json:"error,omitempty"`  // of any other, for people
	Spent  ask.Millis      `json:"spent,omitempty"`
}

// Text shows a result that is a string as itself, and any other as JSON.
func (f *Finished) Text() string {
	var s string
	if json.Unmarshal(f.Result, &s) == nil {
		return s
	}
	return string(f.Result)
}

// New makes an entry of one of the types above.
func New(kind Kind, data any) Entry {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("log: encoding a %s entry: %v", kind, err)) // our own types
	}
	return Entry{Kind: kind, Data: raw, value: data}
}

// As decodes an entry's data.
func As[T any](e Entry) (T, error) {
	if v, ok := e.value.(T); ok {
		return v, nil
	}
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return v, fmt.Errorf("log: entry %d (%s): %w", e.Seq, e.Kind, err)
	}
	return v, nil
}
