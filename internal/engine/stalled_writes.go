package engine

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlog"
)

// If the log can't record entries now, because the disk is full or the log is
// unavailable, a worker stalls until it can: its generator waits in yield. The
// entries are only in the worker's batch in the meantime.

// retryInterval is the time between attempts to append.
const retryInterval = time.Second

// flushAndAppendRetrying appends the batch, followed by entries, and retries until
// that succeeds or fails for good. The error is journal.ErrOver if the worker has been
// stopped in the meantime. Callers hold mu, which it releases while it waits.
func (w *worker) flushAndAppendRetrying(entries ...runlog.Entry) error {
	w.batch.entries = append(w.batch.entries, entries...)
	return w.retryTransient(func() error { return w.flushAndAppend(w.core.ctx) })
}

// retryTransient calls try until it succeeds or fails for good. The error is
// journal.ErrOver if the worker has been stopped in the meantime. Callers hold mu,
// which it releases while it waits.
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
			return journal.ErrOver
		}
		if !w.IsUncertain() { // otherwise the log may have the questions
			w.batch.postponeAsks(time.Since(since))
		}
		err = try()
	}
	return err
}

// addStalled adds n to the number of stalled writes. While there are any, the run's
// clock is stopped. Callers hold mu.
func (w *worker) addStalled(n int, err error) {
	if w.stopped == nil {
		w.stopped = make(chan struct{})
	}
	w.stalledCount += n
	w.updateClock()
	w.updateEviction()
	w.core.stalledWrites.add(w.core.logger, n, err)
}

// waitUnlocked waits with mu released. It returns false if the worker has been
// stopped in the meantime.
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

// postponeAsks postpones the deadlines of the questions in the batch, which nobody has seen.
func (b *batch) postponeAsks(d time.Duration) {
	for i, e := range b.entries {
		if a, err := runlog.Decode[runlog.Asked](e); e.Kind == runlog.KindAsked && err == nil && !a.Deadline.IsZero() {
			a.Deadline = a.Deadline.Add(d)
			b.entries[i] = runlog.NewEntry(runlog.KindAsked, a)
		}
	}
}

// dropAsks removes the questions from the batch, because the run ends
// before anybody could see them.
func (b *batch) dropAsks() {
	b.entries = slices.DeleteFunc(b.entries, func(e runlog.Entry) bool { return e.Kind == runlog.KindAsked })
}

// stalledWrites counts the stalled writes of all workers.
type stalledWrites struct {
	mu    sync.Mutex
	count int
	since time.Time
}

// add adds n to the count. It logs when the first write stalls and when none is
// stalled any more.
func (s *stalledWrites) add(logger *slog.Logger, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.count
	s.count += n
	switch {
	case before == 0:
		s.since = time.Now()
		logger.Error("runs are stalled: the log can't be written", "err", err)
	case s.count == 0:
		logger.Info("runs are no longer stalled", "after", time.Since(s.since).Round(time.Millisecond))
	}
}

// retryLater calls try, with mu held, again and again after retryInterval, until it succeeds,
// fails for good or the engine closes.
func (r *trackedRun) retryLater(try func() error) {
	r.core.retries.AddLater(schedule.Job{Wait: retryInterval, MaxWait: retryInterval, Try: func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		err := try()
		switch {
		case errors.Is(err, journal.ErrOver):
			return nil
		case err != nil && !IsTransient(err):
			r.core.logger.Error("retrying a failed append", "run", r.id, "err", err)
			return nil
		}
		return err
	}})
}
