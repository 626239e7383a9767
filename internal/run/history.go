package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// history is what a run did before it is taken up again: its calls by key, and
// how many events it had told after the last of them.
type history struct {
	calls map[string]*pastCall
	told  int
}

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

func (h *history) settle(seq uint64, reply func(*record) generators.Reply) {
	for _, c := range h.calls {
		if c.seq == seq {
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
	delete(h.calls, c.Key)
	if past.reply != nil {
		c.Settle(past.reply(w.record))
	} else if open := w.open(past.seq); open != nil {
		open.call = c
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

// Recover reads the log: it takes durable runs up where they were left, and
// marks the others interrupted. A run whose log can't be read is left out, and
// the logger told. Call it once, before the engine is used.
func (e *Engine) Recover(ctx context.Context) error {
	go e.retain()
	go e.cool()
	for id, err := range e.log.Runs(ctx) {
		if err != nil {
			return err
		}
		if err := e.recover(ctx, id); err != nil {
			e.logger.Error("a run can't be read back, and is left out", "run", id, "err", err)
		}
	}
	return nil
}

func (e *Engine) recover(ctx context.Context, id string) error {
	r := &record{engine: e, id: id, state: Running, reading: true}
	r.mu.Lock() // until all is read: no deadline may pass in the middle
	defer r.mu.Unlock()
	h := &history{calls: make(map[string]*pastCall)}
	for batch, err := range e.log.Read(ctx, id, 0) {
		if err != nil {
			return err
		}
		for _, entry := range batch {
			if err := r.rememberBlobs(entry); err != nil {
				return err
			}
			if entry, err = e.hydrate(id, entry); err != nil {
				return err
			}
			if err := r.remember(h, entry); err != nil {
				return err
			}
		}
	}
	r.reading = false
	if r.last == 0 {
		return errors.New("its log is empty")
	}
	switch {
	case r.state.Ended():
	case r.photon == nil:
		return r.end(log.Finished{Status: log.Interrupted, Error: fmt.Sprintf("the photon %s is not here any more", r.started.Photon)})
	case !r.started.Durable:
		return r.end(log.Finished{Status: log.Interrupted, Error: "Beam was restarted while this was running"})
	case r.state == Waiting && h.told == 0:
		// It has nothing to do until it is answered, and stays cold.
	default:
		return r.resume(ctx, h)
	}
	return nil
}

// rememberBlobs counts what an entry of a log that is being read back names.
func (r *record) rememberBlobs(entry log.Entry) error {
	switch {
	case entry.Blob != "":
		r.refer(entry.Blob, 0)
	case entry.Kind == "artifact":
		a, err := log.As[generators.Artifact](entry)
		if err != nil {
			return err
		}
		if a.Digest != "" {
			r.refer(a.Digest, a.Size)
		}
	case entry.Kind == log.KindAnswered:
		a, err := log.As[log.Answered](entry)
		if err != nil {
			return err
		}
		for _, f := range a.Answer.Files {
			r.refer(f.Digest, f.Size)
		}
	}
	return nil
}

// remember takes in one entry of a log that is being read back.
func (r *record) remember(h *history, entry log.Entry) error {
	if entry.Kind == log.KindStarted {
		s, err := log.As[log.Started](entry)
		if err != nil {
			return err
		}
		r.started, r.owner, r.born = s, s.Owner, entry.Time
		r.photon, _ = r.engine.photons.Lookup(s.Photon)
		if _, err := r.engine.index.add(r, 0); err != nil {
			return err
		}
	}
	r.apply(entry)
	return h.taken(entry)
}

// resume claims a run and replays it.
func (r *record) resume(ctx context.Context, h *history) error {
	err := r.append(ctx, log.New(log.KindClaimed, log.Claimed{Epoch: r.epoch + 1}))
	if errors.Is(err, errOver) {
		return nil // another process has it
	}
	if err != nil {
		return err
	}
	r.launch(h)
	return nil
}
