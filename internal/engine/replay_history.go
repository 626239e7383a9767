package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
)

// A history is what a run has done before it is resumed. The worker that replays
// the run removes each call that the generator makes again.
type history struct {
	caller          generators.Caller // who started the run
	args            json.RawMessage
	unreplayedCalls map[string]*recordedCall // by key
	program         string                   // of the latest claim

	// named means that the entries say which goroutines they come from. Of entries that don't,
	// the replay skips the first events, as many as there are: all before the last call,
	// and trailingEvents.
	named          bool
	unnamedCalls   int
	trailingEvents int

	calls      map[string][]*recordedCall // by the keys that the generator gave, replayed or not
	goroutines map[string]*recordedGoroutine
	events     map[uint64][]*recordedEvent // by content
	eventCount int
	mistaken   map[uint64][]yieldedEvent // that were taken for a recorded event, by its content

	readStarted    time.Time // when reading the log began
	lastSettled    uint64    // ordinal of the question or sleep that was settled last
	replayReported bool      // the end of the replay was metered and traced
}

func newHistory() *history {
	return &history{
		unreplayedCalls: make(map[string]*recordedCall), calls: make(map[string][]*recordedCall), goroutines: make(map[string]*recordedGoroutine),
		events: make(map[uint64][]*recordedEvent), mistaken: make(map[uint64][]yieldedEvent),
		readStarted: time.Now(),
	}
}

// A recordedCall is a step with its outcome, or a question or a sleep and, if it was
// settled, its settlement.
type recordedCall struct {
	kind      string
	seq       uint64
	key       string
	named     bool // goroutine is known
	goroutine string
	replayed  bool
	program   string                             // digest of the program that made the call
	evidence  string                             // digest of what the question shows
	masked    []uint64                           // the secrets that are masked there
	audience  *audience.Audience                 // who may answer; nil if anyone who uses the run may
	reply     func(*trackedRun) generators.Reply // nil if the question is open or the sleep in progress
}

// addCall adds the call of an entry, whose key has a suffix if given isn't empty.
func (h *history) addCall(e runlog.Entry, key, given string, c *recordedCall) {
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

var _ runlog.Visitor = (*history)(nil) // it visits the entries of the log, in their order

func (h *history) Started(_ runlog.Entry, s runlog.Started) error {
	s.Owner = callers.OwnerID(s.Owner)
	h.caller, h.args = s.StartedBy(), s.Args
	return nil
}

func (h *history) Queued(runlog.Entry, runlog.Queued) error { return nil }

func (h *history) Claimed(_ runlog.Entry, c runlog.Claimed) error {
	h.program, h.named = c.Program, c.Goroutines
	return nil
}

func (h *history) Asked(e runlog.Entry, a runlog.Asked) error {
	h.addCall(e, a.Key, a.GivenKey, &recordedCall{kind: string(a.Question.Kind), evidence: a.Evidence, masked: a.Masked, audience: audience.Of(a.Question)})
	return nil
}

func (h *history) Answered(_ runlog.Entry, a runlog.Answered) error {
	h.settleCall(a.AskSeq, func(r *trackedRun) generators.Reply { return r.answeredReply(a) })
	return nil
}

func (h *history) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error {
	h.settleCall(w.AskSeq, func(*trackedRun) generators.Reply { return withdrawnReply(w) })
	return nil
}

func (h *history) Stepped(e runlog.Entry, s runlog.Stepped) error {
	h.addCall(e, s.Key, s.GivenKey, &recordedCall{kind: generators.StepKind, reply: func(*trackedRun) generators.Reply { return steppedReply(s) }})
	return nil
}

func (h *history) Sleeping(e runlog.Entry, s runlog.Sleeping) error {
	h.addCall(e, s.Key, s.GivenKey, &recordedCall{kind: generators.SleepKind})
	return nil
}

func (h *history) Woken(_ runlog.Entry, w runlog.Woken) error {
	h.settleCall(w.SleepSeq, wokenReply)
	return nil
}

func (h *history) Repeated(runlog.Entry, runlog.Repeated) error { return nil }
func (h *history) Adopted(runlog.Entry, runlog.Adopted) error   { return nil }
func (h *history) Sampling(runlog.Entry, runlog.Sampling) error { return nil }
func (h *history) Finished(runlog.Entry, runlog.Finished) error { return nil }

func (h *history) Event(e runlog.Entry) error {
	h.addEvent(e)
	return nil
}

// settleCall sets the reply to a question or a sleep. If the log has several, the first counts,
// as it did when they were recorded.
func (h *history) settleCall(seq uint64, reply func(*trackedRun) generators.Reply) {
	h.lastSettled = seq
	for _, c := range h.unreplayedCalls {
		if c.seq == seq && c.reply == nil {
			c.reply = reply
		}
	}
}

// steppedReply returns the generator's reply for a recorded step.
func steppedReply(s runlog.Stepped) generators.Reply {
	if s.Error != "" {
		return generators.Reply{Err: &generators.StepError{Key: s.Key, Message: s.Error}}
	}
	return generators.Reply{Value: s.Value}
}

// skipRecordedEvent reports whether the log already has the event that the
// generator yields now, as far as its entries don't name goroutines: it has all events
// before the last recorded call, and trailingEvents after it.
func (h *history) skipRecordedEvent() bool {
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

// recordedKeys returns the keys that the log has.
func (w *worker) recordedKeys() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(w.history.unreplayedCalls)), maps.Keys(w.Attempts))
}

// findRecordedKey returns the unique key of the recorded call that a goroutine makes now with
// a key; see [generators.Run.SetRecordedKeys].
func (w *worker) findRecordedKey(goroutine, given string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range []string{given, w.secrets.Key(given)} {
		if key := w.findKey(goroutine, g); key != "" {
			return given + strings.TrimPrefix(key, g)
		}
	}
	return ""
}

// findKey returns the key of the first call that a goroutine made with a key and that isn't
// replayed, or of its step that has no outcome. If the whole run used the key once, the
// goroutine doesn't matter: goroutines that share their work may do so in another way.
func (w *worker) findKey(goroutine, given string) string {
	calls := w.history.calls[given]
	for _, c := range calls {
		if !c.replayed && (!c.named || c.goroutine == goroutine) {
			return c.key
		}
	}
	if len(calls) == 1 && !calls[0].replayed {
		return calls[0].key
	}
	for step, a := range w.Attempts {
		ofWhole := step == given && len(calls) == 0
		ofGoroutine := a.Goroutine == goroutine && (step == given || keySuffix.ReplaceAllString(step, "") == given)
		if (ofWhole || ofGoroutine) && !w.isRunningStep(step) {
			return step
		}
	}
	return ""
}

// passCall notes that a recorded call is replayed.
func (h *history) passCall(c *recordedCall) {
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

// replayCall replies to a call from the log, if the log has it. A recorded question
// that is still open stays open under its id. The error means that the call
// differs from the recorded one, or shows something else.
func (w *worker) replayCall(c *generators.Call) (recorded bool, err error) {
	h := w.history
	past := h.unreplayedCalls[c.Key]
	if past == nil {
		past = h.unreplayedCalls[w.secrets.Key(c.Key)]
	}
	switch {
	case past == nil && len(h.unreplayedCalls) > 0 && !c.Concurrent:
		first, names := h.describeUnreplayed()
		return false, w.replayDiffersErrorf(first, "it now makes the call %q (%s), but the log has %s", c.Key, c.Kind, names)
	case past == nil:
		h.goroutine(w.generator.Goroutine()).lastCall = math.MaxUint64
		if len(h.unreplayedCalls) == 0 {
			h.trailingEvents = 0 // the replay has passed the end of the log
		}
		return false, nil
	case past.kind != c.Kind:
		return false, w.replayDiffersErrorf(past, "the kind of call %q is now %s, but the log has %s", c.Key, c.Kind, past.kind)
	}
	if err := w.checkEvidence(c, past); err != nil {
		return false, err
	}
	if err := w.checkAudience(c, past); err != nil {
		return false, err
	}
	if h.passCall(past); len(h.unreplayedCalls) == 0 {
		w.observeReplay(true)
	}
	if past.reply != nil {
		reply := past.reply(w.trackedRun)
		if failed, ok := errors.AsType[*generators.StepError](reply.Err); ok {
			failed.Key = c.Key // the log's may be masked
		}
		c.Settle(reply)
	} else if w.FindAsk(past.seq) != nil || w.FindSleep(past.seq) != nil {
		w.calls = append(w.calls, &waitingCall{Call: c, seq: past.seq})
		c.HandleWithdraw(func(reason string) { w.withdrawCall(c, reason) })
		w.updateEvictionQueue()
	}
	return true, nil
}
