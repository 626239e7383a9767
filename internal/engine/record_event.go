package engine

import (
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

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
