package runlog

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
	// IdempotencyKey is the caller's Idempotency-Key, if it gave one.
	IdempotencyKey string `json:"idempotency,omitempty"`
	// Trace is the trace that the run is a part of; nil if it is in none.
	Trace *Trace `json:"trace,omitempty"`
	// RetainFor is how long after its start the run is kept at least, once it has
	// ended.
	RetainFor ask.Millis `json:"keep,omitempty"`
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
	// TimeSpent is how long the run has worked so far, waiting left out.
	TimeSpent ask.Millis `json:"spent,omitempty"`
	// More tells that further questions follow at once, before the generator
	// waits; see [generators.Call].
	More bool `json:"more,omitempty"`
}

// Answered settles a question.
type Answered struct {
	AskSeq uint64     `json:"ask"` // the ordinal of the Asked entry
	Answer ask.Answer `json:"answer"`
	// Sealed is the content of a secret answer, readable only with the run's
	// own key; Answer has none then.
	Sealed  []byte `json:"sealed,omitempty"`
	Surface string `json:"by"` // the surface that it came from
}

// Stepped records a step's outcome.
type Stepped struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value,omitempty"`
	Error     string          `json:"error,omitempty"`
	TimeSpent ask.Millis      `json:"spent,omitempty"`
}

// Withdrawn settles a question that nobody answered.
type Withdrawn struct {
	AskSeq uint64         `json:"ask"`
	Reason WithdrawReason `json:"reason"`
	Error  string         `json:"error,omitempty"` // what was in the way, for people
}

// WithdrawReason is why a question was withdrawn.
type WithdrawReason string

// The reasons.
const (
	Expired     WithdrawReason = "expired" // its time ran out
	RunEnded    WithdrawReason = "run ended"
	Unsupported WithdrawReason = "unsupported" // nobody could be asked
	Invalid     WithdrawReason = "invalid"     // the answers did not fit, too often
)

// FinishStatus is how a run ended.
type FinishStatus string

// The ends of a run.
const (
	Completed   FinishStatus = "completed"
	Failed      FinishStatus = "failed"
	Stopped     FinishStatus = "stopped"     // by a person
	Interrupted FinishStatus = "interrupted" // by the end of the process
)

// Finished is the last entry of a run.
type Finished struct {
	Status    FinishStatus    `json:"status"`
	Result    json.RawMessage `json:"result,omitempty"` // of a completed run
	Error     string          `json:"error,omitempty"`  // of any other, for people
	TimeSpent ask.Millis      `json:"spent,omitempty"`
}

// ResultText shows a result that is a string as itself, and any other as JSON.
func (f *Finished) ResultText() string {
	var s string
	if json.Unmarshal(f.Result, &s) == nil {
		return s
	}
	return string(f.Result)
}

// NewEntry makes an entry of one of the types above.
func NewEntry(kind Kind, data any) Entry {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("log: encoding a %s entry: %v", kind, err)) // our own types
	}
	return Entry{Kind: kind, Data: raw, decoded: data}
}

// Decode decodes an entry's data.
func Decode[T any](e Entry) (T, error) {
	if v, ok := e.decoded.(T); ok {
		return v, nil
	}
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return v, fmt.Errorf("log: entry %d (%s): %w", e.Seq, e.Kind, err)
	}
	return v, nil
}
