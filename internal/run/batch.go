package run

import (
	"bytes"
	"context"
	"errors"
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

// inlineArtifact is the largest body that an artifact's entry holds itself.
const inlineArtifact = 64 << 10

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
		return w.flush(w.ctx)
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
	if err := w.flush(w.ctx); err != nil {
		w.broken(err)
	}
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

// store moves an artifact's body to the blob store if it is large.
func (w *worker) store(a *generators.Artifact) (*generators.Artifact, error) {
	if int64(len(a.Body)) > w.engine.limits.Artifact {
		return nil, faultf("the artifact %q has %d bytes, and at most %d are allowed", clip(a.Title), len(a.Body), w.engine.limits.Artifact)
	}
	stored := *a
	stored.Title, stored.Size = clip(a.Title), int64(len(a.Body))
	if len(a.Body) <= inlineArtifact {
		return &stored, nil
	}
	digest, size, err := w.engine.blobs.Put(w.ctx, w.id, bytes.NewReader(a.Body))
	if err != nil {
		return nil, err
	}
	w.refer(digest, size)
	stored.Body, stored.Digest = nil, digest
	return &stored, nil
}

// elapsed is how long the run has worked, waiting left out. Callers hold mu.
func (r *record) elapsed() time.Duration {
	if r.work == nil || r.work.resumed.IsZero() {
		return r.spent
	}
	return r.spent + time.Since(r.work.resumed)
}

// clock lets the run's time go on while no question is open, and stand still
// otherwise. Callers hold mu.
func (r *record) clock() {
	w := r.work
	if w == nil {
		return
	}
	switch goes := r.state == Running; {
	case goes && w.resumed.IsZero():
		w.resumed = time.Now()
		w.startLimit()
	case !goes && !w.resumed.IsZero():
		r.spent = r.elapsed()
		w.resumed = time.Time{}
		if w.limit != nil {
			w.limit.Stop()
		}
	}
}

func (w *worker) startLimit() {
	total := w.photon.Options().TimeLimit
	if total <= 0 {
		return
	}
	left := total - w.spent
	if w.limit != nil {
		w.limit.Reset(left)
		return
	}
	w.limit = time.AfterFunc(left, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.work == w && !w.resumed.IsZero() {
			w.cancel(generators.ErrTimeLimit)
		}
	})
}

// hydrate reads an entry's data where it was too large to be in it.
func (e *Engine) hydrate(run string, entry log.Entry) (log.Entry, error) {
	if entry.Blob == "" {
		return entry, nil
	}
	f, err := e.blobs.Open(run, entry.Blob)
	if err != nil {
		return entry, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	entry.Data, entry.Blob = b.Bytes(), ""
	return entry, errors.Join(err, f.Close())
}
