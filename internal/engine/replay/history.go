// Package replay compares what a generator does when its run is resumed with what the run's log
// has: it finds the recorded replies to its calls, skips the events that it yields again, and
// says how it differs.
package replay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A History is what a run has done before it is resumed. The worker that replays
// the run removes each call that the generator makes again.
type History struct {
	Caller      generators.Caller // who started the run
	Args        json.RawMessage
	ReadStarted time.Time // when reading the log began
	LastSettled uint64    // ordinal of the question or sleep that was settled last

	replies         Replies
	current         func() string    // the digest of this program
	unreplayedCalls map[string]*Call // by key
	program         string           // of the latest claim

	// named means that the entries say which goroutines they come from. Of entries that don't,
	// the replay skips the first events, as many as there are: all before the last call,
	// and trailingEvents.
	named          bool
	unnamedCalls   int
	trailingEvents int

	calls      map[string][]*Call // by the keys that the generator gave, replayed or not
	goroutines map[string]*recordedGoroutine
	events     map[uint64][]*recordedEvent // by content
	eventCount int
	mistaken   map[uint64][]Yielded // that were taken for a recorded event, by its content

	unpatched map[string]bool // the given keys of patches whose places the run had passed
}

// Replies return the replies for recorded settlements. They are called when a call is replayed.
type Replies struct {
	Answered  func(runlog.Answered) driver.Reply
	Withdrawn func(runlog.Withdrawn) driver.Reply
}

// New returns a history without entries, for a program with a digest.
func New(program func() string, r Replies) *History {
	return &History{
		replies: r, current: program,
		unreplayedCalls: make(map[string]*Call), calls: make(map[string][]*Call), goroutines: make(map[string]*recordedGoroutine),
		events: make(map[uint64][]*recordedEvent), mistaken: make(map[uint64][]Yielded), unpatched: make(map[string]bool),
		ReadStarted: time.Now(),
	}
}

// A Call is a step with its outcome, or a question or a sleep and, if it was
// settled, its settlement.
type Call struct {
	kind      string
	seq       uint64
	key       string
	named     bool // goroutine is known
	goroutine string
	replayed  bool
	program   string              // digest of the program that made the call
	evidence  string              // digest of what the question shows
	masked    []uint64            // the secrets that are masked there
	audience  *audience.Audience  // who may answer; nil if anyone who uses the run may
	reply     func() driver.Reply // nil if the question is open or the sleep in progress
}

// addCall adds the call of an entry, whose key has a suffix if given isn't empty.
func (h *History) addCall(e runlog.Entry, key, given string, c *Call) {
	c.program, c.seq, c.key, c.named, c.goroutine = h.program, e.Seq, key, h.named, e.Goroutine
	h.unreplayedCalls[key] = c
	given = cmp.Or(given, key)
	h.calls[given] = append(h.calls[given], c)
	if h.named {
		g := h.goroutine(e.Goroutine)
		g.calls = append(g.calls, c)
		return
	}
	if base := keySuffix.ReplaceAllString(key, ""); base != key {
		h.calls[base] = append(h.calls[base], c)
	}
	h.unnamedCalls++
	h.trailingEvents = 0 // the events before are no longer trailing
}

// keySuffix is what makes the key of a call unique.
var keySuffix = regexp.MustCompile(`#[0-9]+$`)

var _ runlog.Visitor = (*History)(nil) // it visits the entries of the log, in their order

func (h *History) Started(_ runlog.Entry, s runlog.Started) error {
	s.Owner = callers.OwnerID(s.Owner)
	h.Caller, h.Args = s.StartedBy(), s.Args
	return nil
}

func (h *History) Queued(runlog.Entry, runlog.Queued) error { return nil }

func (h *History) Claimed(_ runlog.Entry, c runlog.Claimed) error {
	h.program, h.named = c.Program, c.Goroutines
	return nil
}

func (h *History) Asked(e runlog.Entry, a runlog.Asked) error {
	if a.Question == nil {
		return fmt.Errorf("entry %d has no question", e.Seq)
	}
	h.addCall(e, a.Key, a.GivenKey, &Call{kind: string(a.Question.Kind), evidence: a.Evidence, masked: a.Masked, audience: audience.Of(a.Question)})
	return nil
}

func (h *History) Answered(_ runlog.Entry, a runlog.Answered) error {
	h.Settle(a.AskSeq, func() driver.Reply { return h.replies.Answered(a) })
	return nil
}

func (h *History) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	h.Settle(w.AskSeq, func() driver.Reply { return h.replies.Withdrawn(w) })
	return nil
}

func (h *History) Stepped(e runlog.Entry, s runlog.Stepped) error {
	h.addCall(e, s.Key, s.GivenKey, &Call{kind: driver.StepKind, reply: func() driver.Reply { return SteppedReply(s) }})
	return nil
}

func (h *History) Sleeping(e runlog.Entry, s runlog.Sleeping) error {
	h.addCall(e, s.Key, s.GivenKey, &Call{kind: driver.SleepKind})
	return nil
}

func (h *History) Woken(_ runlog.Entry, w runlog.Woken) error {
	h.Settle(w.SleepSeq, func() driver.Reply { return driver.Reply{} })
	return nil
}

func (h *History) Repeated(runlog.Entry, runlog.Repeated) error { return nil }
func (h *History) Parked(runlog.Entry, runlog.Parked) error     { return nil }
func (h *History) Adopted(runlog.Entry, runlog.Adopted) error   { return nil }
func (h *History) Sampling(runlog.Entry, runlog.Sampling) error { return nil }
func (h *History) Finished(runlog.Entry, runlog.Finished) error { return nil }

func (h *History) Event(e runlog.Entry) error {
	h.addEvent(e)
	return nil
}

// Settle sets the reply to a question or a sleep. If the log has several, the first counts,
// as it did when they were recorded.
func (h *History) Settle(seq uint64, reply func() driver.Reply) {
	h.LastSettled = seq
	for _, c := range h.unreplayedCalls {
		if c.seq == seq && c.reply == nil {
			c.reply = reply
		}
	}
}

// SteppedReply returns the generator's reply for a recorded step.
func SteppedReply(s runlog.Stepped) driver.Reply {
	if s.Error != "" {
		return driver.Reply{Err: &generators.StepError{Key: s.Key, Message: s.Error}}
	}
	return driver.Reply{Value: s.Value}
}

// SkipEvent reports whether the log already has the event that the
// generator yields now, as far as its entries don't name goroutines: it has all events
// before the last recorded call, and trailingEvents after it.
func (h *History) SkipEvent() bool {
	switch {
	case h == nil:
		return false
	case h.unnamedCalls > 0:
		return true
	case h.trailingEvents > 0:
		h.trailingEvents--
		return true
	}
	return false
}

// IsDone reports whether every recorded call is replayed.
func (h *History) IsDone() bool { return h == nil || len(h.unreplayedCalls) == 0 }

// Keys returns the keys of the calls that aren't replayed.
func (h *History) Keys() []string {
	if h == nil {
		return nil
	}
	return slices.Collect(maps.Keys(h.unreplayedCalls))
}

// FindKey returns the key of the first call that a goroutine made with a key and that isn't
// replayed, or of its step of attempts, which have no outcome. If the whole run used the key once,
// the goroutine doesn't matter: goroutines that share their work may do so in another way.
func (h *History) FindKey(goroutine, given string, attempts map[string]*runstate.Attempt) string {
	if h == nil {
		return ""
	}
	calls := h.calls[given]
	for _, c := range calls {
		if !c.replayed && (!c.named || c.goroutine == goroutine) {
			return c.key
		}
	}
	if len(calls) == 1 && !calls[0].replayed {
		return calls[0].key
	}
	for step, a := range attempts {
		ofWhole := step == given && len(calls) == 0
		ofGoroutine := a.Goroutine == goroutine && (step == given || keySuffix.ReplaceAllString(step, "") == given)
		if ofWhole || ofGoroutine {
			return step
		}
	}
	return ""
}

// FindUniqueKey returns the unique key of the recorded call that a goroutine makes now with a key,
// which the log may have with secrets masked; see [driver.Run.SetRecordedKeys]. It is empty if the
// call is new.
func (h *History) FindUniqueKey(goroutine, given string, secrets mask.Secrets, attempts map[string]*runstate.Attempt) string {
	for _, g := range []string{given, secrets.Key(given)} {
		if key := h.FindKey(goroutine, g, attempts); key != "" {
			return given + strings.TrimPrefix(key, g)
		}
	}
	return ""
}

// passCall notes that a recorded call is replayed.
func (h *History) passCall(c *Call) {
	c.replayed = true
	if delete(h.unreplayedCalls, c.key); !c.named {
		h.unnamedCalls--
		return
	}
	g := h.goroutine(c.goroutine)
	g.lastCall = max(g.lastCall, c.seq)
	for len(g.calls) > 0 && g.calls[0].replayed {
		g.calls = g.calls[1:]
	}
}

// Take returns the recorded call that a goroutine makes again, and notes that it is replayed; nil
// if the log doesn't have it. Secrets are those of the generator. The error means that the call
// differs from the recorded one, or shows something else.
func (h *History) Take(c *driver.Call, secrets mask.Secrets, goroutine string) (*Call, error) {
	past := h.unreplayedCalls[c.Key]
	if past == nil {
		past = h.unreplayedCalls[secrets.Key(c.Key)]
	}
	if c.Patch && (h.unpatched[c.GivenKey] || past == nil && h.hasPassed(c, goroutine)) {
		h.unpatched[c.GivenKey] = true
		return &Call{reply: func() driver.Reply { return driver.Reply{Value: json.RawMessage("false")} }}, nil
	}
	switch {
	case past == nil && len(h.unreplayedCalls) > 0 && !c.Concurrent:
		first, names := h.describeUnreplayed()
		return nil, h.differsErrorf(first, "it now makes the call %q (%s), but the log has %s", secrets.Key(c.Key), c.Kind, names)
	case past == nil:
		h.goroutine(goroutine).lastCall = math.MaxUint64
		if len(h.unreplayedCalls) == 0 {
			h.trailingEvents = 0 // the replay has passed the end of the log
		}
		return nil, nil
	case past.kind != c.Kind:
		return nil, h.differsErrorf(past, "the kind of call %q is now %s, but the log has %s", secrets.Key(c.Key), c.Kind, past.kind)
	}
	if q, ok := askdata.Of(c); ok {
		if !past.shows(q, secrets) {
			return nil, h.differsErrorf(past, "the question %q now shows something else than when it was asked", secrets.Key(c.Key))
		}
		if !audience.Of(q).Equal(past.audience) {
			return nil, h.differsErrorf(past, "the question %q is now for others than when it was asked", secrets.Key(c.Key))
		}
	}
	h.passCall(past)
	return past, nil
}

// hasPassed reports whether the recorded code has gone on after the place where a goroutine is.
func (h *History) hasPassed(c *driver.Call, goroutine string) bool {
	if h.named && c.Concurrent {
		return len(h.goroutine(goroutine).calls) > 0
	}
	return len(h.unreplayedCalls) > 0
}

// shows reports whether a replayed question shows what the recorded one does: whoever answers, or
// has answered, decides by that.
func (c *Call) shows(q *askdata.Question, secrets mask.Secrets) bool {
	q, _ = secrets.Of(c.masked).Question(q)
	for _, q := range []*askdata.Question{runlog.ShownQuestion(q), q} { // earlier versions recorded titles as they were
		if runlog.DigestEvidence(q.Evidence) == c.evidence {
			return true
		}
	}
	return false
}

// Seq returns the ordinal of the call's entry.
func (c *Call) Seq() uint64 { return c.seq }

// Reply returns the recorded reply to a call that the generator now makes as key. It reports false
// if the question is open, or the sleep in progress.
func (c *Call) Reply(key string) (r driver.Reply, ok bool) {
	if c.reply == nil {
		return r, false
	}
	r = c.reply()
	if failed, ok := errors.AsType[*generators.StepError](r.Err); ok {
		failed.Key = key // the log's may be masked
	}
	return r, true
}
