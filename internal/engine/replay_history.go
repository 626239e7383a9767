package engine

import (
	"encoding/json"
	"errors"
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
	trailingEvents  int                      // events after the last call
	program         string                   // of the latest claim

	readStarted    time.Time // when reading the log began
	lastSettled    uint64    // ordinal of the question or sleep that was settled last
	replayReported bool      // the end of the replay was metered and traced
}

func newHistory() *history {
	return &history{unreplayedCalls: make(map[string]*recordedCall), readStarted: time.Now()}
}

// A recordedCall is a step with its outcome, or a question or a sleep and, if it was
// settled, its settlement.
type recordedCall struct {
	kind     string
	seq      uint64
	program  string                             // digest of the program that made the call
	evidence string                             // digest of what the question shows
	masked   []uint64                           // the secrets that are masked there
	audience *audience.Audience                 // who may answer; nil if anyone who uses the run may
	reply    func(*trackedRun) generators.Reply // nil if the question is open or the sleep in progress
}

// addCall adds a call: the events before it are no longer trailing.
func (h *history) addCall(key string, c *recordedCall) {
	c.program = h.program
	h.unreplayedCalls[key] = c
	h.trailingEvents = 0
}

// addEntry adds one entry of the log. An entry of a kind that this version doesn't
// know counts as an event.
func (h *history) addEntry(e runlog.Entry) error {
	switch e.Kind {
	case runlog.KindStarted:
		s, err := runlog.Decode[runlog.Started](e)
		s.Owner = callers.OwnerID(s.Owner)
		h.caller, h.args = s.StartedBy(), s.Args
		return err
	case runlog.KindClaimed:
		c, err := runlog.Decode[runlog.Claimed](e)
		h.program = c.Program
		return err
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](e)
		if err != nil {
			return err
		}
		h.addCall(s.Key, &recordedCall{kind: generators.StepKind, seq: e.Seq, reply: func(*trackedRun) generators.Reply { return steppedReply(s) }})
	case runlog.KindAsked:
		a, err := runlog.Decode[runlog.Asked](e)
		if err != nil {
			return err
		}
		h.addCall(a.Key, &recordedCall{kind: string(a.Question.Kind), seq: e.Seq, evidence: a.Evidence, masked: a.Masked, audience: audience.Of(a.Question)})
	case runlog.KindSleeping:
		s, err := runlog.Decode[runlog.Sleeping](e)
		if err != nil {
			return err
		}
		h.addCall(s.Key, &recordedCall{kind: generators.SleepKind, seq: e.Seq})
	case runlog.KindWoken:
		s, err := runlog.Decode[runlog.Woken](e)
		if err != nil {
			return err
		}
		h.settleCall(s.SleepSeq, wokenReply)
	case runlog.KindAnswered:
		a, err := runlog.Decode[runlog.Answered](e)
		if err != nil {
			return err
		}
		h.settleCall(a.AskSeq, func(r *trackedRun) generators.Reply { return r.answeredReply(a) })
	case runlog.KindWithdrawn:
		w, err := runlog.Decode[runlog.Withdrawn](e)
		if err != nil {
			return err
		}
		h.settleCall(w.AskSeq, func(*trackedRun) generators.Reply { return withdrawnReply(w) })
	default:
		if e.Kind.IsEvent() {
			h.trailingEvents++
		}
	}
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
// generator yields now: it has all events before the last recorded call, and
// trailingEvents after it.
func (h *history) skipRecordedEvent() bool {
	switch {
	case h == nil:
		return false
	case len(h.unreplayedCalls) > 0:
		return true
	case h.trailingEvents > 0:
		h.trailingEvents--
		return true
	}
	return false
}

// replayCall replies to a call from the log, if the log has it. A recorded question
// that is still open stays open under its id. The error means that the call
// differs from the recorded one, or shows something else.
func (w *worker) replayCall(c *generators.Call) (recorded bool, err error) {
	h := w.history
	key := c.Key
	past := h.unreplayedCalls[key]
	if past == nil {
		key = w.maskKey(c.Key)
		past = h.unreplayedCalls[key]
	}
	switch {
	case past == nil && len(h.unreplayedCalls) > 0 && !c.Concurrent:
		first, names := h.describeUnreplayed()
		return false, w.replayDiffersErrorf(first, "it now makes the call %q (%s), but the log has %s", c.Key, c.Kind, names)
	case past == nil:
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
	if delete(h.unreplayedCalls, key); len(h.unreplayedCalls) == 0 {
		w.observeReplay(true)
	}
	if past.reply != nil {
		reply := past.reply(w.trackedRun)
		if failed, ok := errors.AsType[*generators.StepError](reply.Err); ok {
			failed.Key = c.Key // the log's may be masked
		}
		c.Settle(reply)
	} else if open := w.findOpenAsk(past.seq); open != nil {
		open.call = c
		c.HandleWithdraw(func(reason string) { w.withdrawCall(c, reason) })
		w.updateEvictionQueue()
	} else if s := w.findSleep(past.seq); s != nil {
		s.call = c
		w.updateEvictionQueue()
	}
	return true, nil
}
