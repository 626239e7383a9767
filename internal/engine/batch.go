package engine

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
)

// A worker appends events other than calls in batches. It flushes a batch at once
// if it hasn't flushed one within flushInterval, otherwise when the interval ends
// or the batch has maxBatchBytes.
const (
	flushInterval = 16 * time.Millisecond
	maxBatchBytes = 64 << 10
)

// A batch holds the entries that a worker has yet to append.
type batch struct {
	entries   []runlog.Entry
	bytes     int
	flushedAt time.Time
	timer     *time.Timer
}

// removeFirst removes the first n entries, which are recorded.
func (b *batch) removeFirst(n int) {
	rest := b.entries[min(n, len(b.entries)):]
	b.discard()
	for _, e := range rest {
		b.add(e)
	}
}

func (b *batch) add(e runlog.Entry) {
	b.entries = append(b.entries, e)
	b.bytes += len(e.Data)
}

// discard empties the batch without appending it.
func (b *batch) discard() {
	b.entries, b.bytes = nil, 0
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// queueEntry adds an entry to the batch, and flushes it if it is due.
func (w *worker) queueEntry(e runlog.Entry) error {
	b := &w.batch
	b.add(e)
	wait := flushInterval - time.Since(b.flushedAt)
	if wait <= 0 || b.bytes >= maxBatchBytes {
		return w.flushAndAppendRetrying()
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, w.flushOnTimer)
	}
	return nil
}

func (w *worker) flushOnTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker != w {
		return
	}
	w.batch.timer = nil
	switch err := w.flushAndAppend(w.core.ctx); {
	case IsTransient(err):
		w.batch.timer = time.AfterFunc(retryInterval, w.flushOnTimer)
	case err != nil:
		w.endOnRecordError(err)
	}
}

// If the log can't record entries now, because the disk is full or the log is
// unavailable, a worker stalls until it can: its generator waits in yield. The
// entries are only in the worker's batch in the meantime.

// retryInterval is the time between attempts to append.
const retryInterval = time.Second

// flushAndAppendRetrying appends the batch, followed by entries, and retries until that succeeds
// or fails for good. The error is journal.ErrOver if the worker has been stopped in the meantime.
// It releases mu while it waits.
func (w *worker) flushAndAppendRetrying(entries ...runlog.Entry) error {
	w.batch.entries = append(w.batch.entries, entries...)
	return w.retryTransient(func() error { return w.flushAndAppend(w.core.ctx) })
}

// retryTransient calls try until it succeeds or fails for good. The error is journal.ErrOver if
// the worker has been stopped in the meantime. It releases mu while it waits.
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

// addStalled adds n to the number of stalled writes. While there are any, the run's clock is
// stopped.
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
