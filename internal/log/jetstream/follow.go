package jetstream

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/internal/log"
)

// hubs are the runs that somebody follows. They hear of each append when it is
// acknowledged, in the stream's order, since no other process appends; a
// follower that is behind reads the stream.
type hubs struct {
	mu     sync.RWMutex
	runs   map[string]*hub
	closed bool
}

// hub is one run with its followers.
type hub struct {
	run  string
	refs atomic.Int32 // changed under hubs.mu

	mu     sync.Mutex
	primed bool
	tail   tail
	// recent ends with the run's last entry, if there is any in it. It is
	// dropped when all followers wait, and halved when it is long.
	recent  []log.Entry
	bytes   int
	over    error         // errOver or ErrClosed
	waiting int           // for changed
	changed chan struct{} // closed by the next change
}

// A hub keeps so much, and a follower that is further behind reads the stream.
const (
	keptEntries = 4 * log.MaxBatch
	keptBytes   = 1 << 20
)

func (hs *hubs) enter(run string) (*hub, error) {
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
	h.refs.Add(1)
	return h, nil
}

func (hs *hubs) leave(h *hub) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h.refs.Add(-1) == 0 && hs.runs[h.run] == h {
		delete(hs.runs, h.run)
	}
}

// feed tells the followers of a run what was appended.
func (hs *hubs) feed(p *pending) {
	hs.mu.RLock()
	h := hs.runs[p.run]
	hs.mu.RUnlock()
	if h != nil {
		h.feed(p)
	}
}

// deleted ends the followers of a run that is gone.
func (hs *hubs) deleted(run string) {
	hs.mu.Lock()
	h := hs.runs[run]
	delete(hs.runs, run)
	hs.mu.Unlock()
	if h != nil {
		h.end(log.ErrNotFound)
	}
}

func (hs *hubs) close() {
	hs.mu.Lock()
	hs.closed = true
	all := hs.runs
	hs.runs = nil
	hs.mu.Unlock()
	for _, h := range all {
		h.end(ErrClosed)
	}
}

// reread has followers look at the stream, which may have what nobody was told
// of.
func (hs *hubs) reread() {
	hs.mu.RLock()
	defer hs.mu.RUnlock()
	for _, h := range hs.runs {
		h.mu.Lock()
		h.primed = false
		h.change()
		h.mu.Unlock()
	}
}

func (h *hub) feed(p *pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.tail.seq <= h.tail.seq {
		return
	}
	if n := len(h.recent); n > 0 && h.recent[n-1].Seq+1 != p.first {
		h.recent, h.bytes = nil, 0
	}
	h.tail = p.tail
	if m, err := decodeHead(p.payload); err != nil {
		h.recent, h.bytes = nil, 0 // our own encoding; the files tell what is wrong
	} else if h.recent, err = m.decode(h.recent, 0); err == nil {
		h.bytes += len(p.payload)
	}
	h.trim()
	h.change()
}

// trim keeps the newer half of what has become long.
func (h *hub) trim() {
	for len(h.recent) > keptEntries || h.bytes > keptBytes && len(h.recent) > 1 {
		h.recent = append([]log.Entry(nil), h.recent[len(h.recent)/2:]...)
		h.bytes /= 2
	}
}

func (h *hub) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = err
	h.change()
}

// change wakes all. Callers hold mu.
func (h *hub) change() {
	close(h.changed)
	h.changed, h.waiting = make(chan struct{}), 0
}

// prime looks where the run ends, unless that is known.
func (h *hub) prime(ctx context.Context, l *Log) error {
	h.mu.Lock()
	primed := h.primed
	h.mu.Unlock()
	if primed {
		return nil
	}
	t, known := l.recent.tail(h.run)
	if !known {
		var err error
		if t, err = l.engine.Load().tail(ctx, h.run); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.seq > h.tail.seq {
		h.tail, h.recent, h.bytes = t, nil, 0
	}
	h.primed = true
	if h.tail.seq == 0 {
		h.primed = false
		return log.ErrNotFound
	}
	return nil
}

// step is what a follower does next: one of these.
type step struct {
	batch   []log.Entry
	behind  bool            // read the stream
	unsure  bool            // prime the hub
	changed <-chan struct{} // wait for it
	over    bool
	err     error
}

// next is what to do about the entries after an ordinal.
func (h *hub) next(after uint64) step {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.over == log.ErrNotFound:
		return step{over: true}
	case h.over != nil:
		return step{err: h.over}
	case !h.primed:
		return step{unsure: true}
	case after < h.tail.last && len(h.recent) > 0 && h.recent[0].Seq <= after+1:
		from := int(after + 1 - h.recent[0].Seq)
		to := min(len(h.recent), from+log.MaxBatch)
		return step{batch: h.recent[from:to:to]}
	case after < h.tail.last:
		return step{behind: true}
	case h.tail.finished:
		return step{over: true}
	}
	if h.waiting++; h.waiting >= int(h.refs.Load()) {
		h.recent, h.bytes = nil, 0
	}
	return step{changed: h.changed}
}

// Follow implements [log.Log]. The error may also be [ErrClosed].
func (l *Log) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	return func(yield func([]log.Entry, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		h, err := l.hubs.enter(run)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.hubs.leave(h)
		if err := h.prime(ctx, l); err != nil {
			yield(nil, err)
			return
		}
		f := &follower{log: l, hub: h, after: after}
		for !f.over {
			batch, err := f.next(ctx)
			if len(batch) == 0 && err == nil {
				continue
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// follower is one reader of a run, and where it is.
type follower struct {
	log    *Log
	hub    *hub
	after  uint64
	behind []log.Entry // read from the stream, not yielded yet
	stream *cursor
	over   bool
}

// next is a batch, or none if something else has changed.
func (f *follower) next(ctx context.Context) ([]log.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(f.behind) > 0 {
		n := min(len(f.behind), log.MaxBatch)
		batch := f.behind[:n:n]
		f.behind = f.behind[n:]
		return f.took(batch), nil
	}
	s := f.hub.next(f.after)
	switch {
	case s.batch != nil:
		return f.took(s.batch), nil
	case s.behind:
		return nil, f.read(ctx)
	case s.unsure:
		return nil, f.hub.prime(ctx, f.log)
	case s.changed != nil:
		select {
		case <-s.changed:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.over = true
	return nil, s.err
}

func (f *follower) took(batch []log.Entry) []log.Entry {
	f.after = batch[len(batch)-1].Seq
	return batch
}

// read gets what the hub no longer has from the stream. If it isn't there, the
// run was deleted.
func (f *follower) read(ctx context.Context) (err error) {
	if f.behind, _ = f.log.recent.after(f.hub.run, f.after); len(f.behind) > 0 {
		return nil
	}
	if f.stream == nil {
		f.stream = f.log.cursor(f.hub.run, f.after)
	}
	f.behind, err = f.stream.entries(ctx, f.hub.run, f.after)
	if err == nil && len(f.behind) == 0 {
		f.over = true
		err = f.stream.nothing(ctx, f.hub.run, f.after)
	}
	return err
}
