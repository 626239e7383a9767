package engine

import (
	"context"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
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

// discard empties the batch without appending it.
func (b *batch) discard() {
	b.entries, b.bytes = nil, 0
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// queueEvent adds an event that surfaces show to the batch, unless it is a
// replayed one that the log already has.
func (w *worker) queueEvent(e generators.Event) error {
	if w.history.skipRecordedEvent() {
		return nil
	}
	if a, ok := e.(*generators.Artifact); ok {
		err := w.retryTransient(func() (err error) { e, err = w.storeArtifact(a); return err })
		if err != nil {
			return err
		}
	}
	kind, data, err := generators.Encode(e)
	if err != nil {
		return err
	}
	return w.queueEntry(runlog.Entry{Kind: runlog.Kind(kind), Data: data, Time: time.Now()})
}

// queueEntry adds an entry to the batch, and flushes it if it is due.
func (w *worker) queueEntry(e runlog.Entry) error {
	b := &w.batch
	b.entries = append(b.entries, e)
	b.bytes += len(e.Data)
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
	switch err := w.flushAndAppend(w.engine.ctx); {
	case IsTransient(err):
		w.batch.timer = time.AfterFunc(retryInterval, w.flushOnTimer)
	case err != nil:
		w.endOnRecordError(err)
	}
}

// flushAndAppend appends the worker's batch, if there is a worker, followed by
// entries. If that fails, the batch keeps what it had. Callers hold mu.
func (r *trackedRun) flushAndAppend(ctx context.Context, entries ...runlog.Entry) error {
	if err := r.resolveUncertainAppend(ctx); err != nil {
		return err
	}
	w := r.worker
	if w == nil || len(w.batch.entries) == 0 {
		return r.appendEntries(ctx, entries...)
	}
	batched := w.batch.entries
	w.batch.flushedAt = time.Now()
	err := r.appendEntries(ctx, slices.Concat(batched, entries)...)
	switch {
	case r.worker != w: // the worker was stopped, and its batch discarded
	case err == nil:
		w.batch.discard()
	case r.uncertain != nil:
		r.uncertain.worker, r.uncertain.batchedCount = w, len(batched)
	}
	return err
}
