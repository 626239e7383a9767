package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// A worker whose events can't be recorded now, because the disk is full or the
// log is being mended, stands still until they can: its generator waits in
// yield. What it is about to record is in its batch, and nowhere else.

// retryInterval is how long it takes until what could not be recorded is tried again.
const retryInterval = time.Second

// IsTransient tells whether what could not be recorded may be later.
func IsTransient(err error) bool {
	return errors.Is(err, runlog.ErrDiskFull) || errors.Is(err, runlog.ErrUnavailable) || errors.Is(err, runlog.ErrUncertain)
}

// flushAndAppendRetrying appends what waits in the batch, and entries after it, however long the
// log can't take them. The error is errOver if the worker was let go meanwhile.
// Callers hold mu, which others may have had when put returns.
func (w *worker) flushAndAppendRetrying(entries ...runlog.Entry) error {
	w.batch.entries = append(w.batch.entries, entries...)
	return w.retryTransient(func() error { return w.flushAndAppend(w.engine.ctx) })
}

// retryTransient tries something until it succeeds, or fails for good. Callers hold mu,
// which is free while it waits.
func (w *worker) retryTransient(try func() error) error {
	err := try()
	if !IsTransient(err) {
		return err
	}
	w.addStalled(+1, err)
	defer w.addStalled(-1, nil)
	for IsTransient(err) {
		since := time.Now()
		if !w.waitUnlocked(retryInterval) {
			return errRunOver
		}
		w.postponeDeadlines(time.Since(since))
		err = try()
	}
	return err
}

// addStalled counts who waits: a run's own time stands still meanwhile. Callers
// hold mu.
func (w *worker) addStalled(n int, err error) {
	if w.stopped == nil {
		w.stopped = make(chan struct{})
	}
	w.stalledCount += n
	w.updateClock()
	w.updateResidency()
	w.engine.stalledWrites.addWorkers(w.engine, n, err)
}

// waitUnlocked waits for a while. It returns false if the worker was let go meanwhile.
func (w *worker) waitUnlocked(d time.Duration) bool {
	if w.worker != w {
		return false
	}
	w.mu.Unlock()
	t := time.NewTimer(d)
	select {
	case <-t.C:
	case <-w.stopped:
	}
	t.Stop()
	w.mu.Lock()
	return w.worker == w
}

// postponeDeadlines moves the deadlines of questions that nobody has seen yet. What may
// be in the log already stays as it is.
func (w *worker) postponeDeadlines(d time.Duration) {
	if w.uncertain != nil {
		return
	}
	for i, e := range w.batch.entries {
		if a, err := runlog.Decode[runlog.Asked](e); e.Kind == runlog.KindAsked && err == nil && !a.Deadline.IsZero() {
			a.Deadline = a.Deadline.Add(d)
			w.batch.entries[i] = runlog.NewEntry(runlog.KindAsked, a)
		}
	}
}

// dropUnrecordedAsks takes out of the batch the questions that nobody has seen, and that
// nobody will: the run ends.
func (w *worker) dropUnrecordedAsks() {
	w.batch.entries = slices.DeleteFunc(w.batch.entries, func(e runlog.Entry) bool { return e.Kind == runlog.KindAsked })
}

// stalledWrites counts the workers that stand still.
type stalledWrites struct {
	mu      sync.Mutex
	workers int
	since   time.Time
}

// add says when the first one stands still, and when the last one goes on.
func (s *stalledWrites) addWorkers(e *Engine, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.workers
	s.workers += n
	switch {
	case before == 0:
		s.since = time.Now()
		e.logger.Error("runs stand still: what they do can't be recorded now", "err", err)
	case s.workers == 0:
		e.logger.Info("no run stands still any more", "after", time.Since(s.since).Round(time.Millisecond))
	}
}

// recordEndLater records the end of a run as soon as that is possible. Its generator
// is gone. If the engine closes before, the next process takes the run up, or
// marks it interrupted. Callers hold mu.
func (r *trackedRun) recordEndLater(f runlog.Finished) {
	if !r.endPending {
		r.endPending = true
		go func() {
			r.retryInBackground(func() error { return r.tryRecordEnd(f) })
			r.mu.Lock()
			defer r.mu.Unlock()
			r.endPending = false           // if that failed for good, it can be wanted again
			r.engine.index.markInactive(r) // whether it has ended or not, it works no more
		}()
	}
}

// undoStart makes sure that nothing is left of a run whose start was refused, but
// may have been recorded. Until then its idempotency key is taken.
func (r *trackedRun) undoStart() {
	r.retryInBackground(func() error {
		ctx := r.engine.ctx
		if err := r.resolveUncertainAppend(ctx); err != nil {
			return err
		}
		if !r.engine.deleteLock.TryLock() {
			return fmt.Errorf("%w: %w", runlog.ErrUnavailable, ErrDeletionPaused)
		}
		defer r.engine.deleteLock.Unlock()
		if err := r.engine.log.Delete(ctx, r.id); err != nil {
			return err
		}
		r.engine.index.removeRun(r)
		return r.engine.blobs.DeleteRun(r.id)
	})
}

// resolveUncertainLater clarifies what became of an append, if nobody else does.
func (r *trackedRun) resolveUncertainLater() {
	r.retryInBackground(func() error { return r.resolveUncertainAppend(r.engine.ctx) })
}

// retryInBackground tries something until it succeeds or fails for good, or the engine
// closes.
func (r *trackedRun) retryInBackground(try func() error) {
	for {
		select {
		case <-r.engine.closing:
			return
		case <-time.After(retryInterval):
		}
		r.mu.Lock()
		err := try()
		r.mu.Unlock()
		switch {
		case err == nil, errors.Is(err, errRunOver):
			return
		case !IsTransient(err):
			r.engine.logger.Error("recording what could not be recorded before", "run", r.id, "err", err)
			return
		}
	}
}
