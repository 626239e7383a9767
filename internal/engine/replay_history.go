package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// history is what a run did before it is taken up again: its arguments, its
// calls by key, and how many events it had told after the last of them.
type history struct {
	args            json.RawMessage
	unreplayedCalls map[string]*recordedCall
	trailingEvents  int

	readStarted    time.Time // when the log was begun to be read
	lastSettled    uint64    // the ordinal of the question that was settled last
	replayReported bool      // all calls were met, or never will be
}

func newHistory() *history {
	return &history{unreplayedCalls: make(map[string]*recordedCall), readStarted: time.Now()}
}

// recordedCall is a recorded call: a step with its outcome, or a question and how
// it was settled, if it was.
type recordedCall struct {
	kind  string
	seq   uint64
	reply func(*trackedRun) generators.Reply // nil if the question is open
}

// addEntry notes one entry of the log.
func (h *history) addEntry(e runlog.Entry) error {
	switch e.Kind {
	case runlog.KindStarted:
		s, err := runlog.Decode[runlog.Started](e)
		if err != nil {
			return err
		}
		h.args = s.Args
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](e)
		if err != nil {
			return err
		}
		h.unreplayedCalls[s.Key] = &recordedCall{generators.StepKind, e.Seq, func(*trackedRun) generators.Reply { return steppedReply(s) }}
		h.trailingEvents = 0
	case runlog.KindAsked:
		a, err := runlog.Decode[runlog.Asked](e)
		if err != nil {
			return err
		}
		h.unreplayedCalls[a.Key] = &recordedCall{kind: string(a.Question.Kind), seq: e.Seq}
		h.trailingEvents = 0
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

// settleCall notes how a question was settled. The first settlement holds, as it
// does where the run goes on.
func (h *history) settleCall(seq uint64, reply func(*trackedRun) generators.Reply) {
	h.lastSettled = seq
	for _, c := range h.unreplayedCalls {
		if c.seq == seq && c.reply == nil {
			c.reply = reply
		}
	}
}

func steppedReply(s runlog.Stepped) generators.Reply {
	if s.Error != "" {
		return generators.Reply{Err: &generators.StepError{Key: s.Key, Message: s.Error}}
	}
	return generators.Reply{Value: s.Value}
}

// skipRecordedEvent tells of each event whether the log has it already: all do until
// every recorded call was met again, then as many as followed the last of them.
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

// replayCall meets a call that the log may have. If it has, the call gets the
// recorded reply, or waits on under its old id. A call that differs from what
// was recorded means that the tool's code has changed.
func (w *worker) replayCall(c *generators.Call) (known bool, err error) {
	h := w.history
	past := h.unreplayedCalls[c.Key]
	switch {
	case past == nil && len(h.unreplayedCalls) > 0 && !c.Concurrent:
		return false, toolErrorf("the tool has changed since this run began: it comes to the %s %q now, where %s was recorded",
			c.Kind, c.Key, h.describeUnreplayed())
	case past == nil:
		if len(h.unreplayedCalls) == 0 {
			h.trailingEvents = 0 // beyond what was recorded
		}
		return false, nil
	case past.kind != c.Kind:
		return false, toolErrorf("the tool has changed since this run began: %q is a %s now, where a %s was recorded", c.Key, c.Kind, past.kind)
	}
	if delete(h.unreplayedCalls, c.Key); len(h.unreplayedCalls) == 0 {
		w.observeReplay(true)
	}
	if past.reply != nil {
		c.Settle(past.reply(w.trackedRun))
	} else if open := w.findOpenAsk(past.seq); open != nil {
		open.call = c
		w.updateResidency()
	}
	return true, nil
}

// checkAllReplayed is an error if the generator returned without coming to all that it
// had come to before.
func (h *history) checkAllReplayed() error {
	if len(h.unreplayedCalls) == 0 {
		return nil
	}
	return toolErrorf("the tool has changed since this run began: it returned now without coming to %s", h.describeUnreplayed())
}

// describeUnreplayed names the recorded calls that were not met, earliest first.
func (h *history) describeUnreplayed() string {
	keys := make([]string, 0, len(h.unreplayedCalls))
	for k := range h.unreplayedCalls {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return int(h.unreplayedCalls[a].seq) - int(h.unreplayedCalls[b].seq) })
	said := make([]string, 0, len(keys))
	for _, k := range keys[:min(3, len(keys))] {
		said = append(said, fmt.Sprintf("the %s %q", h.unreplayedCalls[k].kind, k))
	}
	return strings.Join(said, ", then ")
}
