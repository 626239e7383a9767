package run

import (
	"context"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// Events that are no calls are appended together: at once if none was appended
// in the last frame, else when the frame is over or so many bytes have come.
const (
	frame     = 16 * time.Millisecond
	batchSize = 64 << 10
)

// batch is what a worker has yet to append.
type batch struct {
	entries []log.Entry
	bytes   int
	flushed time.Time
	timer   *time.Timer
}

func (b *batch) stop() {
	b.entries, b.bytes = nil, 0
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// event takes in an event that is to be shown.
func (w *worker) event(e generators.Event) error {
	if w.history.toldBefore() {
		return nil
	}
	if a, ok := e.(*generators.Artifact); ok {
		err := w.insist(func() (err error) { e, err = w.store(a); return err })
		if err != nil {
			return err
		}
	}
	kind, data, err := generators.Encode(e)
	if err != nil {
		return err
	}
	return w.enqueue(log.Entry{Kind: log.Kind(kind), Data: data, Time: time.Now()})
}

func (w *worker) enqueue(e log.Entry) error {
	b := &w.batch
	b.entries = append(b.entries, e)
	b.bytes += len(e.Data)
	wait := frame - time.Since(b.flushed)
	if wait <= 0 || b.bytes >= batchSize {
		return w.put()
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(wait, w.flushLater)
	}
	return nil
}

func (w *worker) flushLater() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work != w {
		return
	}
	w.batch.timer = nil
	switch err := w.flush(w.engine.ctx); {
	case Passing(err):
		w.batch.timer = time.AfterFunc(anew, w.flushLater)
	case err != nil:
		w.broken(err)
	}
}

// flush appends what waits in the batch, if a worker is here, and entries after
// it. What can't be appended stays in the batch, and is the worker's concern.
// Callers hold mu.
func (r *record) flush(ctx context.Context, entries ...log.Entry) error {
	if err := r.clarify(ctx); err != nil {
		return err
	}
	w := r.work
	if w == nil || len(w.batch.entries) == 0 {
		return r.append(ctx, entries...)
	}
	waiting := w.batch.entries
	w.batch.flushed = time.Now()
	err := r.append(ctx, slices.Concat(waiting, entries)...)
	switch {
	case r.work != w: // it was let go, and its batch with it
	case err == nil:
		w.batch.stop()
	case r.doubt != nil:
		r.doubt.worker, r.doubt.waiting = w, len(waiting)
	}
	return err
}
