package jetstream

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/runlog"
)

// hubs distributes appends to the followers of runs. It receives each append when
// it is acknowledged, in the stream's order; no other process appends. A follower
// that is behind reads the stream.
type hubs struct {
	mu     sync.RWMutex
	runs   map[string]*hub
	closed bool
}

// hub distributes the appends of one run to its followers.
type hub struct {
	run       string
	followers atomic.Int32 // changed under hubs.mu

	mu        sync.Mutex
	tailKnown bool
	tail      runTail
	// recent holds the run's last entries, if any. It is discarded when all
	// followers wait, and halved when it is too long.
	recent      []runlog.Entry
	bytes       int
	endErr      error         // runlog.ErrNotFound or ErrClosed
	waiterCount int           // followers waiting for changed
	changed     chan struct{} // closed by the next change
}

// Limits of a hub's recent entries. A follower that is further behind reads the
// stream.
const (
	maxHubEntries = 4 * runlog.MaxBatchEntries
	maxHubBytes   = 1 << 20
)

func (hs *hubs) acquire(run string) (*hub, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed {
		return nil, ErrClosed
	}
	h := hs.runs[run]
	if h == nil {
		if hs.runs == nil {
			hs.runs = make(map[string]*hub)
		}
		h = &hub{run: run, changed: make(chan struct{})}
		hs.runs[run] = h
	}
	h.followers.Add(1)
	return h, nil
}

func (hs *hubs) release(h *hub) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h.followers.Add(-1) == 0 && hs.runs[h.run] == h {
		delete(hs.runs, h.run)
	}
}

// publish passes an append to the followers of its run.
func (hs *hubs) publish(a *pendingAppend) {
	hs.mu.RLock()
	h := hs.runs[a.run]
	hs.mu.RUnlock()
	if h != nil {
		h.addAppend(a)
	}
}

// endRun ends the followers of a run that was deleted.
func (hs *hubs) endRun(run string) {
	hs.mu.Lock()
	h := hs.runs[run]
	delete(hs.runs, run)
	hs.mu.Unlock()
	if h != nil {
		h.endFollowers(runlog.ErrNotFound)
	}
}

func (hs *hubs) close() {
	hs.mu.Lock()
	hs.closed = true
	runs := hs.runs
	hs.runs = nil
	hs.mu.Unlock()
	for _, h := range runs {
		h.endFollowers(ErrClosed)
	}
}

// invalidateTails makes all followers read the ends of their runs again: after a
// restart, the stream may hold appends that were never acknowledged.
func (hs *hubs) invalidateTails() {
	hs.mu.RLock()
	defer hs.mu.RUnlock()
	for _, h := range hs.runs {
		h.mu.Lock()
		h.tailKnown = false
		h.notify()
		h.mu.Unlock()
	}
}

func (h *hub) addAppend(a *pendingAppend) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.tail.streamSeq <= h.tail.streamSeq {
		return
	}
	if n := len(h.recent); n > 0 && h.recent[n-1].Seq+1 != a.firstSeq {
		h.recent, h.bytes = nil, 0
	}
	h.tail = a.tail
	if m, err := decodeHead(a.payload); err != nil {
		h.recent, h.bytes = nil, 0 // reading the files reports the error
	} else if h.recent, err = m.decodeEntries(h.recent, 0); err == nil {
		h.bytes += len(a.payload)
	}
	h.trim()
	h.notify()
}

// trim discards the older half of the recent entries while they are too many.
func (h *hub) trim() {
	for len(h.recent) > maxHubEntries || h.bytes > maxHubBytes && len(h.recent) > 1 {
		h.recent = append([]runlog.Entry(nil), h.recent[len(h.recent)/2:]...)
		h.bytes /= 2
	}
}

func (h *hub) endFollowers(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endErr = err
	h.notify()
}

// notify wakes all followers that wait. Callers hold mu.
func (h *hub) notify() {
	close(h.changed)
	h.changed, h.waiterCount = make(chan struct{}), 0
}

// loadTail reads the end of the run unless it is known.
func (h *hub) loadTail(ctx context.Context, l *Log) error {
	h.mu.Lock()
	known := h.tailKnown
	h.mu.Unlock()
	if known {
		return nil
	}
	t, cached := l.recent.tailOf(h.run)
	if !cached {
		var err error
		if t, err = l.readTail(ctx, h.run); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.streamSeq > h.tail.streamSeq {
		h.tail, h.recent, h.bytes = t, nil, 0
	}
	h.tailKnown = true
	if h.tail.streamSeq == 0 {
		h.tailKnown = false
		return runlog.ErrNotFound
	}
	return nil
}

// followStep is what a follower does next. One field is set.
type followStep struct {
	batch      []runlog.Entry
	readStream bool            // call follower.readStream
	loadTail   bool            // call hub.loadTail
	changed    <-chan struct{} // wait for it
	done       bool
	err        error
}

// nextStep returns what a follower that has yielded the entries up to after does
// next.
func (h *hub) nextStep(after uint64) followStep {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.endErr == runlog.ErrNotFound:
		return followStep{done: true}
	case h.endErr != nil:
		return followStep{err: h.endErr}
	case !h.tailKnown:
		return followStep{loadTail: true}
	case after < h.tail.lastSeq && len(h.recent) > 0 && h.recent[0].Seq <= after+1:
		from := int(after + 1 - h.recent[0].Seq)
		to := min(len(h.recent), from+runlog.MaxBatchEntries)
		return followStep{batch: h.recent[from:to:to]}
	case after < h.tail.lastSeq:
		return followStep{readStream: true}
	case h.tail.finished:
		return followStep{done: true}
	}
	if h.waiterCount++; h.waiterCount >= int(h.followers.Load()) {
		h.recent, h.bytes = nil, 0
	}
	return followStep{changed: h.changed}
}

// Follow implements [runlog.Log]. The error may also be [ErrClosed].
func (l *Log) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		h, err := l.hubs.acquire(run)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.hubs.release(h)
		if err := h.loadTail(ctx, l); err != nil {
			yield(nil, err)
			return
		}
		f := &follower{log: l, hub: h, afterSeq: after}
		for !f.done {
			batch, err := f.nextBatch(ctx)
			if len(batch) == 0 && err == nil {
				continue
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// follower is one call of Follow.
type follower struct {
	log      *Log
	hub      *hub
	afterSeq uint64
	buffered []runlog.Entry // read from the stream, not yielded yet
	cursor   *cursor
	done     bool
}

// nextBatch performs the next step, and returns a batch if that has one.
func (f *follower) nextBatch(ctx context.Context) ([]runlog.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(f.buffered) > 0 {
		n := min(len(f.buffered), runlog.MaxBatchEntries)
		batch := f.buffered[:n:n]
		f.buffered = f.buffered[n:]
		return f.advance(batch), nil
	}
	s := f.hub.nextStep(f.afterSeq)
	switch {
	case s.batch != nil:
		return f.advance(s.batch), nil
	case s.readStream:
		return nil, f.readStream(ctx)
	case s.loadTail:
		return nil, f.hub.loadTail(ctx, f.log)
	case s.changed != nil:
		select {
		case <-s.changed:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.done = true
	return nil, s.err
}

func (f *follower) advance(batch []runlog.Entry) []runlog.Entry {
	f.afterSeq = batch[len(batch)-1].Seq
	return batch
}

// readStream buffers entries that the hub no longer has. If there are none, the
// run was deleted.
func (f *follower) readStream(ctx context.Context) (err error) {
	if f.buffered, _ = f.log.recent.entriesAfter(f.hub.run, f.afterSeq); len(f.buffered) > 0 {
		return nil
	}
	if f.cursor == nil {
		f.cursor = f.log.newCursor(f.hub.run, f.afterSeq)
	}
	f.buffered, err = f.cursor.readEntries(ctx, f.hub.run, f.afterSeq)
	if err == nil && len(f.buffered) == 0 {
		f.done = true
		err = f.cursor.confirmEnd(ctx, f.hub.run, f.afterSeq)
	}
	return err
}
