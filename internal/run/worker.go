package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// A worker drives a run's generator: it ranges over its events, records them
// and hands it what was recorded. Its fields are guarded by the record's mu.
type worker struct {
	*record
	run     *generators.Run
	history *history // what a run that is taken up again did before; nil if nothing
	batch   batch
	// steps are the keys of the steps that run now, or whose outcome is yet to
	// be recorded.
	steps []string
	// asking is the question that is being recorded.
	asking *generators.Call
	// still counts who waits until the log takes what it is given; gone is
	// closed when the worker is let go, nil if nobody ever waited.
	still int
	gone  chan struct{}

	// limit is the timer of the run's own time limit; nil if it has none. It
	// stands still while a question is open: resumed is when it last went on,
	// zero while it stands.
	limit   *time.Timer
	resumed time.Time
}

// launch sets the generator going. Callers hold mu.
func (r *record) launch(args json.RawMessage, h *history) {
	w := &worker{record: r, history: h}
	ctx, lived := r.engine.tracer.Live(r.engine.base, r.subject())
	w.run = r.photon.Prepare(ctx, args)
	w.run.Name(r.id)
	r.work = w
	if h != nil && len(h.calls) == 0 {
		w.replayed(true) // it had come to no call
	}
	r.clock()
	r.warmed()
	r.engine.workers.Add(1)
	go w.drive(lived) // not workers.Go, whose frames would double the stack of a run that waits
}

// drive runs in the generator's goroutine. lived is told, for the trace, when
// the generator has returned.
func (w *worker) drive(lived func(State)) {
	defer w.retire(lived)
	for e, err := range w.run.All {
		if err != nil {
			w.failed(err)
			return
		}
		if !w.take(e) {
			return
		}
	}
}

// retire makes sure that a run whose loop ended has ended.
func (w *worker) retire(lived func(State)) {
	defer w.engine.workers.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work == w { // the loop was left, or its goroutine ended, before an end was recorded
		text := "the tool broke down: its goroutine ended"
		if errors.Is(context.Cause(w.run.Context()), generators.ErrTimeLimit) {
			text = w.overtime()
		}
		w.fail(text)
	}
	w.run.Stop(generators.ErrStopped)
	if w.limit != nil {
		w.limit.Stop()
	}
	if w.work == w {
		w.work = nil
		w.warmed()
	}
	lived(w.state)
}

// take records one event. It returns false when the run is over.
func (w *worker) take(e generators.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work != w {
		return false
	}
	err := w.bounded()
	if err == nil {
		err = w.note(e)
	}
	if err == nil {
		return true
	}
	w.broken(err)
	return false
}

// note records one event by its kind.
func (w *worker) note(e generators.Event) error {
	switch e := e.(type) {
	case *generators.Call:
		return w.call(e)
	case *generators.Stepped:
		return w.stepped(e)
	case *generators.Result:
		return w.complete(e)
	}
	return w.event(e)
}

// stepped records a step's outcome. Until that is done, the step is in hand.
func (w *worker) stepped(e *generators.Stepped) error {
	entry := log.New(log.KindStepped, log.Stepped{Key: e.Key, Value: e.Value, Error: e.Error, Spent: ask.Millis(w.elapsed())})
	if err := w.put(entry); err != nil {
		return err
	}
	w.steps = slices.DeleteFunc(w.steps, func(key string) bool { return key == e.Key })
	w.warmed()
	return nil
}

// bounded tells whether the run has kept to what it may write.
func (w *worker) bounded() error {
	limits := w.engine.limits
	switch {
	case w.events+len(w.batch.entries) > limits.Events:
		return faultf("the tool said more than a run may: at most %d events are allowed", limits.Events)
	case w.bytes+int64(w.batch.bytes) > limits.Bytes:
		return faultf("the tool said more than a run may: at most %d bytes are allowed, artifacts not counted", limits.Bytes)
	case w.stored > limits.Stored:
		return faultf("the run keeps more than it may: at most %d bytes of artifacts and files are allowed", limits.Stored)
	}
	return nil
}

// broken ends a run that could not go on.
func (w *worker) broken(err error) {
	var fault *faultError
	switch {
	case errors.Is(err, errOver), w.work != w:
		return
	case errors.As(err, &fault):
		w.fail(fault.text)
	case w.engine.ctx.Err() != nil:
		return
	default:
		w.engine.logger.Error("recording a run", "run", w.id, "photon", w.started.Photon, "err", err)
		w.batch.stop() // what could not be recorded
		w.fail("Beam could not record what the tool did")
	}
}

// A faultError is a fault of the tool, in words for people.
type faultError struct{ text string }

func (e *faultError) Error() string { return e.text }

func faultf(format string, args ...any) error { return &faultError{fmt.Sprintf(format, args...)} }

// call answers a call from the history or opens a question. A step that is not
// in the history is left to its helper, which runs it.
func (w *worker) call(c *generators.Call) error {
	if w.history != nil {
		if known, err := w.recall(c); known || err != nil {
			return err
		}
	}
	if c.Kind == generators.StepKind {
		w.steps = append(w.steps, c.Key)
		w.warmed()
	}
	q, ok := ask.Of(c)
	if !ok {
		return w.put()
	}
	if err := w.engine.policy.Admit(q, len(w.asks), w.engine.index.openAsks(w.owner())); err != nil {
		c.Settle(generators.Reply{Err: err})
		return nil
	}
	asked := log.Asked{Key: c.Key, Question: q, Deadline: deadline(w.engine.policy.TimeoutOf(q)), Spent: ask.Millis(w.elapsed()), More: c.More}
	w.asking = c
	err := w.put(log.New(log.KindAsked, asked))
	w.asking = nil
	return err
}

// failed ends a run whose generator returned an error or was stopped.
func (w *worker) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work != w {
		return
	}
	text := err.Error()
	var panicked *generators.PanicError
	switch {
	case errors.As(err, &panicked):
		w.engine.logger.Error("a tool panicked", "run", w.id, "photon", w.started.Photon,
			"panic", fmt.Sprint(panicked.Value), "stack", string(panicked.Stack))
		text = panicked.Error()
	case errors.Is(context.Cause(w.run.Context()), generators.ErrTimeLimit):
		text = w.overtime()
	}
	w.fail(text)
}

// fail ends the run by its generator's fault.
func (w *worker) fail(text string) { w.close(log.Finished{Status: log.Failed, Error: text}) }

// close ends the run as its generator did, once that can be recorded.
func (w *worker) close(f log.Finished) {
	_ = w.insist(func() error { return w.end(f) }) // end has said what is wrong
}

func (w *worker) overtime() string {
	return fmt.Sprintf("the tool used up its time limit of %s", w.photon.Options().TimeLimit)
}

func (w *worker) complete(result *generators.Result) error {
	// A goroutine that nobody waits for may be ended before it comes to what it
	// had come to then.
	if w.history != nil && !w.run.Concurrent() {
		if err := w.history.unmet(); err != nil {
			return err
		}
	}
	w.close(log.Finished{Status: log.Completed, Result: result.Value})
	return nil
}
