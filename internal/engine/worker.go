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

// A worker drives a run's generator: it records the generator's events and sends it
// the replies to its calls. Its fields are guarded by the run's mu. It is stopped
// when trackedRun.worker is no longer it.
type worker struct {
	*trackedRun
	generator *generators.Run
	history   *history // of a resumed run; nil for a new one
	batch     batch
	// runningSteps has the keys of the steps whose outcome isn't recorded yet.
	runningSteps []string
	// recordingAsk is the call whose question is being recorded.
	recordingAsk *generators.Call
	// stalledCount is the number of stalled writes. stopped is closed when the
	// worker is stopped; it is nil if no write has stalled.
	stalledCount int
	stopped      chan struct{}

	limitTimer *time.Timer // stops the generator at its time limit; nil if it has none
	resumedAt  time.Time   // when the run's clock was last started; zero while it is stopped
}

// launchGenerator starts the generator and its worker. h is the history to replay;
// nil for a new run. Callers hold mu.
func (r *trackedRun) launchGenerator(args json.RawMessage, h *history) {
	w := &worker{trackedRun: r, history: h}
	ctx, endSpan := r.engine.tracer.TraceGenerator(r.engine.generatorCtx, r.tracedRun())
	w.generator = r.photon.Prepare(ctx, args)
	w.generator.SetID(r.id)
	r.worker = w
	if h != nil && len(h.unreplayedCalls) == 0 {
		w.observeReplay(true) // there are no calls to replay
	}
	r.updateClock()
	r.updateResidency()
	r.engine.workers.Add(1)
	go w.driveGenerator(endSpan) // not workers.Go, whose frames would double the stack of a waiting run
}

// driveGenerator runs the generator, in a goroutine of its own, and records its
// events. When the generator has returned, it calls endSpan.
func (w *worker) driveGenerator(endSpan func(State)) {
	defer w.finishDriving(endSpan)
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

// finishDriving ends the run if the loop over its events ended without an end.
func (w *worker) finishDriving(endSpan func(State)) {
	defer w.engine.workers.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker == w { // the generator's goroutine has exited without returning
		text := "the tool crashed: its goroutine exited"
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
	endSpan(w.state)
}

// recordEvent records one event. It returns false if the generator must end.
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

// recordStep records a step's outcome. Until then, the step counts as running.
func (w *worker) recordStep(e *generators.Stepped) error {
	entry := runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: e.Key, Value: e.Value, Error: e.Error, TimeSpent: ask.Millis(w.elapsedTime())})
	if err := w.flushAndAppendRetrying(entry); err != nil {
		return err
	}
	w.runningSteps = slices.DeleteFunc(w.runningSteps, func(key string) bool { return key == e.Key })
	w.updateResidency()
	return nil
}

// checkLimits returns an error if the run has exceeded a limit of what it may write.
func (w *worker) checkLimits() error {
	limits := w.engine.limits
	switch {
	case w.eventCount+len(w.batch.entries) > limits.MaxEvents:
		return toolErrorf("the tool exceeded the limit of %d events per run", limits.MaxEvents)
	case w.logBytes+int64(w.batch.bytes) > limits.MaxLogBytes:
		return toolErrorf("the tool exceeded the limit of %d bytes per run, not counting artifacts", limits.MaxLogBytes)
	case w.blobBytes > limits.MaxBlobBytes:
		return toolErrorf("the tool exceeded the limit of %d bytes of artifacts and files per run", limits.MaxBlobBytes)
	}
	return nil
}

// endOnRecordError ends a run after an event could not be recorded, unless the
// worker has been stopped or the engine has closed.
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

// A toolError is an error that the tool's code caused. Its text is for people.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

func toolErrorf(format string, args ...any) error { return &toolError{fmt.Sprintf(format, args...)} }

// handleCall replies to a call from the history, or records its question. A step
// that isn't in the history is run by generators.Step.
func (w *worker) handleCall(c *generators.Call) error {
	if w.history != nil {
		if recorded, err := w.replayCall(c); recorded || err != nil {
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
	return w.recordAsk(c, q)
}

// recordAsk records the question of a call.
func (w *worker) recordAsk(c *generators.Call, q *ask.Question) error {
	asked := runlog.Asked{
		Key: c.Key, Question: q, More: c.More,
		Deadline: deadlineAfter(w.engine.policy.TimeoutOf(q)), TimeSpent: ask.Millis(w.elapsedTime()),
	}
	w.recordingAsk = c
	err := w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindAsked, asked))
	w.recordingAsk = nil
	return err
}

// handleGeneratorError ends a run whose generator returned an error, panicked or
// exceeded its time limit.
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

// failRun ends the run as failed.
func (w *worker) failRun(text string) {
	w.finishRun(runlog.Finished{Status: runlog.Failed, Error: text})
}

// finishRun records the end of the generator, as soon as the log can record it.
func (w *worker) finishRun(f runlog.Finished) {
	_ = w.retryTransient(func() error { return w.endRun(f) }) // endRun has logged the error
}

func (w *worker) timeLimitText() string {
	return fmt.Sprintf("the tool exceeded its time limit of %s", w.photon.Options().TimeLimit)
}

// completeRun ends the run with the generator's result.
func (w *worker) completeRun(result *generators.Result) error {
	// A goroutine that the generator doesn't wait for may be stopped before it has
	// made its recorded calls.
	if w.history != nil && !w.generator.Concurrent() {
		if err := w.history.checkAllReplayed(); err != nil {
			return err
		}
	}
	w.finishRun(runlog.Finished{Status: runlog.Completed, Result: result.Value})
	return nil
}
