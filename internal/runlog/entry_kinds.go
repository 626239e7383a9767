package runlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// Started is the data of the first entry of a run.
type Started struct {
	Photon  string `json:"photon"`
	Title   string `json:"title"`
	Durable bool   `json:"durable,omitempty"`
	// Version is the photon's version, if it has one; see [generators.Options].
	Version string `json:"version,omitempty"`
	Owner   string `json:"owner"` // the id of the caller who started the run
	// Caller is who started the run, if more than the id is known.
	Caller  *generators.Caller `json:"caller,omitempty"`
	Surface string             `json:"surface"` // where the run was started: browser, http, mcp, mcp task or terminal
	// Samples means that the client that started the run has a model of its own.
	Samples bool            `json:"samples,omitempty"`
	Args    json.RawMessage `json:"args"`
	// IdempotencyKey is the Idempotency-Key of the request, if it had one.
	IdempotencyKey string `json:"idempotency,omitempty"`
	// Exclusive is the run's key; see [generators.Options].
	Exclusive string `json:"exclusive,omitempty"`
	// Trace is the trace that the run belongs to; nil if it isn't traced.
	Trace *Trace `json:"trace,omitempty"`
	// ReplayOf is the run whose recorded answers this one was started with; empty for none.
	ReplayOf string `json:"replayOf,omitempty"`
	// Fork says from where the run was forked; nil if it wasn't.
	Fork *Fork `json:"fork,omitempty"`
	// RetainFor is the minimum time after its start for which the run is retained
	// once it has ended.
	RetainFor askdata.Millis `json:"keep,omitempty"`
}

// A Fork says from where a run was forked. As long as the run makes the calls that the run Of has
// up to the entry with the ordinal Until, it takes their outcomes.
type Fork struct {
	Of    string `json:"of"`
	Until uint64 `json:"until"` // as it was asked for; see End
	// Last is the ordinal of the last entry that Of had then. Later ones don't count.
	Last uint64 `json:"last"`
	// Calls is how many outcomes there were to take.
	Calls int `json:"calls"`
}

// End returns the ordinal of the last entry that counts.
func (f *Fork) End() uint64 { return min(f.Until, f.Last) }

// StartedBy returns who started the run.
func (s *Started) StartedBy() generators.Caller {
	if s.Caller != nil {
		return *s.Caller
	}
	return generators.Caller{ID: s.Owner}
}

// SetStartedBy sets who started the run.
func (s *Started) SetStartedBy(c generators.Caller) {
	s.Owner, s.Caller = c.ID, nil
	if c.Name != "" || len(c.Roles) > 0 {
		s.Caller = &c
	}
}

// Trace is a trace context in the header formats of W3C Trace Context and W3C
// Baggage.
type Trace struct {
	Parent  string `json:"traceparent"`
	State   string `json:"tracestate,omitempty"`
	Baggage string `json:"baggage,omitempty"`
}

// Queued records that the run waits until it is the first of the unfinished runs with its
// key. It ends with the run's first claim.
type Queued struct {
	Key string `json:"key"`
}

// Describe says in a sentence for what the run waits.
func (q Queued) Describe() string { return DescribeQueue(q.Key) }

// DescribeQueue says in a sentence that a run waits for another one with its key.
func DescribeQueue(key string) string {
	return fmt.Sprintf("Waits for another run with the key %q", key)
}

// Claimed records that a worker has claimed the run. Workers with a lower epoch
// must not write any more.
type Claimed struct {
	Epoch int `json:"epoch"`
	// Program is a digest of the worker's program; empty if it isn't known.
	Program string `json:"program,omitempty"`
	// Worker is the process, if several share the log: it holds the run for as long as it is there.
	Worker string `json:"worker,omitempty"`
	// Goroutines means that the entries of this worker say which goroutine they come from,
	// and in which step. Those of earlier versions don't.
	Goroutines bool `json:"goroutines,omitempty"`
}

// Asked opens a question. Its ask id consists of the run's id and this entry's
// ordinal; see [AskID].
type Asked struct {
	Key string `json:"key"`
	// GivenKey is the key without the suffix that makes it unique; empty if it has none.
	GivenKey string            `json:"givenKey,omitempty"`
	Question *askdata.Question `json:"question"`
	// Deadline is when the question expires, or zero if it doesn't.
	Deadline time.Time `json:"deadline,omitzero"`
	// TimeSpent is how long the run has worked so far, excluding time spent
	// waiting.
	TimeSpent askdata.Millis `json:"spent,omitempty"`
	// More means that the generator asks further questions before it waits; see
	// [driver.Call].
	More bool `json:"more,omitempty"`
	// Evidence is the digest of what the question shows; see [DigestEvidence].
	Evidence string `json:"evidence,omitempty"`
	// Masked are the ordinals of the questions whose secret answers are masked in what
	// the question shows.
	Masked []uint64 `json:"masked,omitempty"`
	// Differs says, for people, why a run that was started with recorded answers takes none
	// from here on; empty if it does, or was not.
	Differs string `json:"differs,omitempty"`
	// Taken means that it is answered as it was in the run that this one is a replay or a fork of.
	Taken bool `json:"taken,omitempty"`
	// Lost means that a restart of Beam withdraws the question, because it ends the run.
	Lost bool `json:"lost,omitempty"`
}

// LostNote is what people are told of a question that is Lost, and empty for others.
func (a *Asked) LostNote() string {
	if !a.Lost {
		return ""
	}
	return "This question is lost if Beam restarts."
}

// Notes is what Beam tells people of the question, besides who asks it and until when.
func (a *Asked) Notes() (notes []string) {
	for _, note := range []string{a.Question.Note, a.LostNote()} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// DigestEvidence returns a digest of the artifacts that a question shows: the first
// 32 hexadecimal digits of the SHA-256 of their JSON. It is empty if there are none.
func DigestEvidence(evidence []*generators.Artifact) string {
	if len(evidence) == 0 {
		return ""
	}
	raw, err := json.Marshal(evidence)
	if err != nil {
		panic(fmt.Sprintf("runlog: encoding evidence: %v", err)) // strings and bytes
	}
	return DigestQuestion(raw)
}

// Answered settles a question. The entry's time is when that was.
type Answered struct {
	AskSeq uint64         `json:"ask"` // the ordinal of the Asked entry
	Answer askdata.Answer `json:"answer"`
	// Sealed is the content of a secret answer, encrypted with the run's key.
	// Answer has no content then.
	Sealed  []byte `json:"sealed,omitempty"`
	Surface string `json:"by"` // the surface that the answer came from
	// Caller is who answered; nil in the logs of earlier versions.
	Caller *generators.Caller `json:"caller,omitempty"`
	// Shown is the digest of the question that was answered; see [DigestQuestion].
	Shown string `json:"shown,omitempty"`
	// Evidence says how much of what the question shows the surface rendered; empty
	// if it shows nothing.
	Evidence Rendering `json:"evidence,omitempty"`
}

// Rendering says how much of a question's evidence a surface rendered for the person
// who answered.
type Rendering string

// How much was rendered.
const (
	RenderedFull      Rendering = "full"
	RenderedTruncated Rendering = "truncated"
	RenderedNothing   Rendering = "unseen"
)

// DigestQuestion returns a digest of a question, given the JSON of its recorded
// form: the first 32 hexadecimal digits of its SHA-256. It tells later what a person
// who answered was shown.
func DigestQuestion(recorded json.RawMessage) string {
	sum := sha256.Sum256(recorded)
	return hex.EncodeToString(sum[:16])
}

// Stepped records the outcome of a step.
type Stepped struct {
	Key       string          `json:"key"`
	GivenKey  string          `json:"givenKey,omitempty"` // as in Asked
	Value     json.RawMessage `json:"value,omitempty"`
	Error     string          `json:"error,omitempty"`
	TimeSpent askdata.Millis  `json:"spent,omitempty"`
	// Taken means that the step didn't run: the outcome is that of the run that this one was
	// forked from.
	Taken   bool   `json:"taken,omitempty"`
	Differs string `json:"differs,omitempty"` // as in Asked
}

// Sleeping begins a sleep; see [generators.Sleep].
type Sleeping struct {
	Key       string         `json:"key"`
	GivenKey  string         `json:"givenKey,omitempty"` // as in Asked
	Until     time.Time      `json:"until"`
	TimeSpent askdata.Millis `json:"spent,omitempty"`
	Taken     bool           `json:"taken,omitempty"`   // as in Stepped
	Differs   string         `json:"differs,omitempty"` // as in Asked
}

// Describe says in a sentence until when the run sleeps.
func (s Sleeping) Describe() string { return DescribeSleep(s.Until) }

// DescribeSleep says in a sentence until when a run sleeps.
func DescribeSleep(until time.Time) string {
	return "Sleeps until " + until.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// Woken ends a sleep.
type Woken struct {
	SleepSeq uint64 `json:"sleep"` // the ordinal of the Sleeping entry
}

// Withdrawn settles a question without an answer.
type Withdrawn struct {
	AskSeq uint64         `json:"ask"`
	Reason WithdrawReason `json:"reason"`
	Error  string         `json:"error,omitempty"` // for people
}

// Repeated records that the function of a step begins again, because it failed, or because its
// process ended before the step's outcome was recorded. What it has yielded so far counts no
// more.
type Repeated struct {
	Key    string `json:"key"` // of the step
	Failed bool   `json:"failed,omitempty"`
	// Superseded are the events that count no more, as pairs of the ordinals of the first and
	// the last of each row of them. A reader that has been told them removes them; others
	// aren't told them any more.
	Superseded [][2]uint64 `json:"superseded"`
}

// maxSuperseded limits the ordinals that Ordinals returns.
const maxSuperseded = 10_000

// Ordinals returns the ordinals of the events that count no more, the first of them if there
// are very many.
func (r Repeated) Ordinals() (all []uint64) {
	for _, row := range r.Superseded {
		for seq := row[0]; seq <= row[1] && len(all) < maxSuperseded; seq++ {
			all = append(all, seq)
		}
	}
	return all
}

// Describe says in a sentence that the step begins again.
func (r Repeated) Describe() string {
	why := "begins again"
	if r.Failed {
		why = "failed and is tried again"
	}
	return fmt.Sprintf("The step %q %s: disregard what it has shown so far", r.Key, why)
}

// Parked records that the run doesn't fit its photon's code, so that it can't go on. Its
// questions stay open, but nobody can answer them. The next claim ends that.
type Parked struct {
	Reason ParkedReason `json:"reason"`
	// Detail says, for people, what doesn't fit.
	Detail string `json:"detail"`
	// Program is a digest of the program that the run doesn't fit; empty if it isn't known.
	Program string `json:"program,omitempty"`
}

// Describe says in a sentence that the run is parked, and why.
func (p *Parked) Describe() string { return "Parked: " + p.Detail }

// ParkedRemedy says in a sentence, without a period, how a parked run goes on, or ends.
const ParkedRemedy = "Put the old version of the program back, deploy one that fits, or stop or fork the run"

// ParkedReason is what about a run doesn't fit.
type ParkedReason string

// Reasons for parking a run.
const (
	ParkedChanged ParkedReason = "changed" // the code makes other calls than the log has
	ParkedVersion ParkedReason = "version" // the photon has another version
	ParkedMissing ParkedReason = "missing" // the program has no such photon
	ParkedInput   ParkedReason = "input"   // the photon no longer accepts the arguments
)

// WithdrawReason is why a question was withdrawn.
type WithdrawReason string

// Reasons for withdrawing a question.
const (
	Expired     WithdrawReason = "expired" // its deadline passed
	RunEnded    WithdrawReason = "run ended"
	Unsupported WithdrawReason = "unsupported" // nobody could be asked
	Invalid     WithdrawReason = "invalid"     // too many answers were invalid
	TakenBack   WithdrawReason = "taken back"  // the tool needs no answer anymore
)

// Adopted makes another caller the run's owner.
type Adopted struct {
	By generators.Caller `json:"by"`
}

// NewEntry returns an entry of a kind, whose data must be of the kind's type.
func NewEntry(kind Kind, data any) Entry {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("runlog: encoding a %s entry: %v", kind, err)) // our own types
	}
	return Entry{Kind: kind, Data: raw, decoded: data}
}

// From returns the entry as one of a goroutine of the generator.
func (e Entry) From(goroutine string) Entry {
	e.Goroutine = goroutine
	return e
}

// Decode decodes an entry's data.
func Decode[T any](e Entry) (T, error) {
	if v, ok := e.decoded.(T); ok {
		return v, nil
	}
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return v, fmt.Errorf("entry %d (%s): %w", e.Seq, e.Kind, err)
	}
	return v, nil
}
