package run

import (
	"context"
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
		var err error
		if e, err = w.store(a); err != nil {
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
		return w.flush(w.engine.ctx)
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
	if err := w.flush(w.engine.ctx); err != nil {
		w.broken(err)
	}
}

// flushFirst flushes for who is not the worker. What can't be appended stays in
// the batch, and is the worker's concern.
func (r *record) flushFirst(ctx context.Context) error {
	w := r.work
	if w == nil || len(w.batch.entries) == 0 {
		return nil
	}
	entries, bytes := w.batch.entries, w.batch.bytes
	err := r.flush(ctx)
	if err != nil && r.work == w {
		w.batch.entries, w.batch.bytes = entries, bytes
		w.batch.timer = time.AfterFunc(frame, w.flushLater)
	}
	return err
}

// flush appends what waits in the batch, if a worker is here, and entries
// after it. Callers hold mu.
func (r *record) flush(ctx context.Context, entries ...log.Entry) error {
	if w := r.work; w != nil && len(w.batch.entries) > 0 {
		waiting := w.batch.entries
		entries = append(waiting, entries...)
		w.batch.stop()
		w.batch.flushed = time.Now()
	}
	if len(entries) == 0 {
		return nil
	}
	return r.append(ctx, entries...)
}
