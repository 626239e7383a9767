package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// history is what a run did before it is taken up again: its arguments, its
// calls by key, and how many events it had told after the last of them.
type history struct {
	args  json.RawMessage
	calls map[string]*pastCall
	told  int

	began   time.Time // when the log was begun to be read
	settled uint64    // the ordinal of the question that was settled last
	met     bool      // all calls were met, or never will be
}

func newHistory() *history { return &history{calls: make(map[string]*pastCall), began: time.Now()} }

// pastCall is a recorded call: a step with its outcome, or a question and how
// it was settled, if it was.
type pastCall struct {
	kind  string
	seq   uint64
	reply func(*record) generators.Reply // nil if the question is open
}

// taken notes one entry of the log.
func (h *history) taken(e log.Entry) error {
	switch e.Kind {
	case log.KindStarted:
		s, err := log.As[log.Started](e)
		if err != nil {
			return err
		}
		h.args = s.Args
	case log.KindStepped:
		s, err := log.As[log.Stepped](e)
		if err != nil {
			return err
		}
		h.calls[s.Key] = &pastCall{generators.StepKind, e.Seq, func(*record) generators.Reply { return stepReply(s) }}
		h.told = 0
	case log.KindAsked:
		a, err := log.As[log.Asked](e)
		if err != nil {
			return err
		}
		h.calls[a.Key] = &pastCall{kind: string(a.Question.Kind), seq: e.Seq}
		h.told = 0
	case log.KindAnswered:
		a, err := log.As[log.Answered](e)
		if err != nil {
			return err
		}
		h.settle(a.Ask, func(r *record) generators.Reply { return r.reply(a) })
	case log.KindWithdrawn:
		w, err := log.As[log.Withdrawn](e)
		if err != nil {
			return err
		}
		h.settle(w.Ask, func(*record) generators.Reply { return withdrawnReply(w) })
	default:
		if e.Kind.IsEvent() {
			h.told++
		}
	}
	return nil
}

// settle notes how a question was settled. The first settlement holds, as it
// does where the run goes on.
func (h *history) settle(seq uint64, reply func(*record) generators.Reply) {
	h.settled = seq
	for _, c := range h.calls {
		if c.seq == seq && c.reply == nil {
			c.reply = reply
		}
	}
}

func stepReply(s log.Stepped) generators.Reply {
	if s.Error != "" {
		return generators.Reply{Err: &generators.StepError{Key: s.Key, Message: s.Error}}
	}
	return generators.Reply{Value: s.Value}
}

// toldBefore tells of each event whether the log has it already: all do until
// every recorded call was met again, then as many as followed the last of them.
func (h *history) toldBefore() bool {
	switch {
	case h == nil:
		return false
	case len(h.calls) > 0:
		return true
	case h.told > 0:
		h.told--
		return true
	}
	return false
}

// recall meets a call that the log may have. If it has, the call gets the
// recorded reply, or waits on under its old id. A call that differs from what
// was recorded means that the tool's code has changed.
func (w *worker) recall(c *generators.Call) (known bool, err error) {
	h := w.history
	past := h.calls[c.Key]
	switch {
	case past == nil && len(h.calls) > 0 && !c.Concurrent:
		return false, faultf("the tool has changed since this run began: it comes to the %s %q now, where %s was recorded",
			c.Kind, c.Key, h.describe())
	case past == nil:
		if len(h.calls) == 0 {
			h.told = 0 // beyond what was recorded
		}
		return false, nil
	case past.kind != c.Kind:
		return false, faultf("the tool has changed since this run began: %q is a %s now, where a %s was recorded", c.Key, c.Kind, past.kind)
	}
	if delete(h.calls, c.Key); len(h.calls) == 0 {
		w.replayed(true)
	}
	if past.reply != nil {
		c.Settle(past.reply(w.record))
	} else if open := w.open(past.seq); open != nil {
		open.call = c
		w.warmed()
	}
	return true, nil
}

// unmet is an error if the generator returned without coming to all that it
// had come to before.
func (h *history) unmet() error {
	if len(h.calls) == 0 {
		return nil
	}
	return faultf("the tool has changed since this run began: it returned now without coming to %s", h.describe())
}

// describe names the recorded calls that were not met, earliest first.
func (h *history) describe() string {
	keys := make([]string, 0, len(h.calls))
	for k := range h.calls {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return int(h.calls[a].seq) - int(h.calls[b].seq) })
	said := make([]string, 0, len(keys))
	for _, k := range keys[:min(3, len(keys))] {
		said = append(said, fmt.Sprintf("the %s %q", h.calls[k].kind, k))
	}
	return strings.Join(said, ", then ")
}
