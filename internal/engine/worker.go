package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A worker drives a run's generator: it ranges over its events, records them
// and hands it what was recorded. Its fields are guarded by the record's mu.
type worker struct {
	*trackedRun
	generator *generators.Run
	history   *history // what a run that is taken up again did before; nil if nothing
	batch     batch
	// runningSteps are the keys of the steps that run now, or whose outcome is yet to
	// be recorded.
	runningSteps []string
	// recordingAsk is the question that is being recorded.
	recordingAsk *generators.Call
	// stalledCount counts who waits until the log takes what it is given; gone is
	// closed when the worker is let go, nil if nobody ever waited.
	stalledCount int
	stopped      chan struct{}

	// limitTimer is the timer of the run's own time limit; nil if it has none. It
	// stands still while a question is open: resumed is when it last went on,
	// zero while it stands.
	limitTimer *time.Timer
	resumedAt  time.Time
}

// launchGenerator sets the generator going. Callers hold mu.
func (r *trackedRun) launchGenerator(args json.RawMessage, h *history) {
	w := &worker{trackedRun: r, history: h}
	ctx, lived := r.engine.tracer.TraceGenerator(r.engine.generatorCtx, r.tracedRun())
	w.generator = r.photon.Prepare(ctx, args)
	w.generator.SetID(r.id)
	r.worker = w
	if h != nil && len(h.calls) == 0 {
		w.observeReplay(true) // it had come to no call
	}
	r.updateClock()
	r.updateResidency()
	r.engine.workers.Add(1)
	go w.driveGenerator(lived) // not workers.Go, whose frames would double the stack of a run that waits
}

// driveGenerator runs in the generator's goroutine. lived is told, for the trace, when
// the generator has returned.
func (w *worker) driveGenerator(lived func(State)) {
	defer w.finishDriving(lived)
	for e, err := range w.generator.All {
		if err != nil {
			w.handleGeneratorError(err)
			return
		}
		if !w.recordEvent(e) {
			return
		}
	}
}

// finishDriving makes sure that a run whose loop ended has ended.
func (w *worker) finishDriving(lived func(State)) {
	defer w.engine.workers.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker == w { // the loop was left, or its goroutine ended, before an end was recorded
		text := "the tool failed: its goroutine ended"
		if errors.Is(context.Cause(w.generator.Context()), generators.ErrTimeLimit) {
			text = w.timeLimitText()
		}
		w.failRun(text)
	}
	w.generator.Stop(generators.ErrStopped)
	if w.limitTimer != nil {
		w.limitTimer.Stop()
	}
	if w.worker == w {
		w.worker = nil
		w.updateResidency()
	}
	lived(w.state)
}

// recordEvent records one event. It returns false when the run is over.
func (w *worker) recordEvent(e generators.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker != w {
		return false
	}
	err := w.checkLimits()
	if err == nil {
		err = w.recordByKind(e)
	}
	if err == nil {
		return true
	}
	w.endOnRecordError(err)
	return false
}

// recordByKind records one event by its kind.
func (w *worker) recordByKind(e generators.Event) error {
	switch e := e.(type) {
	case *generators.Call:
		return w.handleCall(e)
	case *generators.Stepped:
		return w.recordStep(e)
	case *generators.Result:
		return w.completeRun(e)
	}
	return w.queueEvent(e)
}

// recordStep records a step's outcome. Until that is done, the step is in hand.
func (w *worker) recordStep(e *generators.Stepped) error {
	entry := runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: e.Key, Value: e.Value, Error: e.Error, TimeSpent: ask.Millis(w.elapsedTime())})
	if err := w.flushAndAppendRetrying(entry); err != nil {
		return err
	}
	w.runningSteps = slices.DeleteFunc(w.runningSteps, func(key string) bool { return key == e.Key })
	w.updateResidency()
	return nil
}

// checkLimits tells whether the run has kept to what it may write.
func (w *worker) checkLimits() error {
	limits := w.engine.limits
	switch {
	case w.eventCount+len(w.batch.entries) > limits.MaxEvents:
		return toolErrorf("the tool said more than a run may: at most %d events are allowed", limits.MaxEvents)
	case w.logBytes+int64(w.batch.bytes) > limits.MaxLogBytes:
		return toolErrorf("the tool said more than a run may: at most %d bytes are allowed, artifacts not counted", limits.MaxLogBytes)
	case w.stored > limits.MaxBlobBytes:
		return toolErrorf("the run keeps more than it may: at most %d bytes of artifacts and files are allowed", limits.MaxBlobBytes)
	}
	return nil
}

// endOnRecordError ends a run that could not go on.
func (w *worker) endOnRecordError(err error) {
	var fault *toolError
	switch {
	case errors.Is(err, errRunOver), w.worker != w:
		return
	case errors.As(err, &fault):
		w.failRun(fault.text)
	case w.engine.ctx.Err() != nil:
		return
	default:
		w.engine.logger.Error("recording a run", "run", w.id, "photon", w.started.Photon, "err", err)
		w.batch.discard() // what could not be recorded
		w.failRun("Beam could not record what the tool did")
	}
}

// A toolError is a fault of the tool, in words for people.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

func toolErrorf(format string, args ...any) error { return &toolError{fmt.Sprintf(format, args...)} }

// handleCall answers a call from the history or opens a question. A step that is not
// in the history is left to its helper, which runs it.
func (w *worker) handleCall(c *generators.Call) error {
	if w.history != nil {
		if known, err := w.replayCall(c); known || err != nil {
			return err
		}
	}
	if c.Kind == generators.StepKind {
		w.runningSteps = append(w.runningSteps, c.Key)
		w.updateResidency()
	}
	q, ok := ask.Of(c)
	if !ok {
		return w.flushAndAppendRetrying()
	}
	if err := w.engine.policy.Admit(q, len(w.openAsks), w.engine.index.countOpenAsks(w.owner())); err != nil {
		c.Settle(generators.Reply{Err: err})
		return nil
	}
	asked := runlog.Asked{Key: c.Key, Question: q, Deadline: deadlineAfter(w.engine.policy.TimeoutOf(q)), TimeSpent: ask.Millis(w.elapsedTime()), More: c.More}
	w.recordingAsk = c
	err := w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindAsked, asked))
	w.recordingAsk = nil
	return err
}

// handleGeneratorError ends a run whose generator returned an error or was stopped.
func (w *worker) handleGeneratorError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker != w {
		return
	}
	text := err.Error()
	var panicked *generators.PanicError
	switch {
	case errors.As(err, &panicked):
		w.engine.logger.Error("a tool panicked", "run", w.id, "photon", w.started.Photon,
			"panic", fmt.Sprint(panicked.Value), "stack", string(panicked.Stack))
		text = panicked.Error()
	case errors.Is(context.Cause(w.generator.Context()), generators.ErrTimeLimit):
		text = w.timeLimitText()
	}
	w.failRun(text)
}

// failRun ends the run by its generator's fault.
func (w *worker) failRun(text string) {
	w.finishRun(runlog.Finished{Status: runlog.Failed, Error: text})
}

// finishRun ends the run as its generator did, once that can be recorded.
func (w *worker) finishRun(f runlog.Finished) {
	_ = w.retryTransient(func() error { return w.endRun(f) }) // end has said what is wrong
}

func (w *worker) timeLimitText() string {
	return fmt.Sprintf("the tool used up its time limit of %s", w.photon.Options().TimeLimit)
}

func (w *worker) completeRun(result *generators.Result) error {
	// A goroutine that nobody waits for may be ended before it comes to what it
	// had come to then.
	if w.history != nil && !w.generator.Concurrent() {
		if err := w.history.checkAllReplayed(); err != nil {
			return err
		}
	}
	w.finishRun(runlog.Finished{Status: runlog.Completed, Result: result.Value})
	return nil
}
