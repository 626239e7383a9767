package store

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// A hub gives followers what was committed.
type hub struct {
	mu     sync.Mutex
	feeds  map[string]*feed
	closed bool
}

// A feed has the latest entries of a run that somebody follows. Followers that are slower
// read.
type feed struct {
	followers int
	entries   []runlog.Entry // only appended to, and replaced
	bytes     int
	ended     bool          // the run was deleted
	changed   chan struct{} // closed by the next change; nil if nobody waits
}

// Bounds of what a feed keeps for followers that don't keep up.
const (
	feedEntries = 4 * runlog.MaxBatchEntries
	feedBytes   = 256 << 10
)

// join adds a follower of a run, and returns its feed; nil if the store is closed.
func (h *hub) join(run string) *feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	f := h.feeds[run]
	if f == nil {
		f = &feed{}
		if h.feeds == nil {
			h.feeds = make(map[string]*feed)
		}
		h.feeds[run] = f
	}
	f.followers++
	return f
}

// leave removes a follower.
func (h *hub) leave(run string, f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.followers--; f.followers == 0 && h.feeds[run] == f {
		delete(h.feeds, run)
	}
}

// publish adds what was appended to a run. The writer calls it in the order of the appends.
func (h *hub) publish(run string, q *request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil {
		return
	}
	entries, err := decodeEntries(nil, q.data, q.entries[0].Seq, len(q.entries), 0)
	if err != nil {
		return // it was encoded here; followers read it
	}
	if len(f.entries)+len(entries) > feedEntries || f.bytes+len(q.data) > feedBytes {
		f.entries, f.bytes = nil, 0
	}
	f.entries, f.bytes = append(f.entries, entries...), f.bytes+len(q.data)
	f.notify()
}

// end ends the followers of a run, which was deleted. Another run may start with its id.
func (h *hub) end(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[run]; f != nil {
		f.ended = true
		f.notify()
		delete(h.feeds, run)
	}
}

// close ends all followers.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, f := range h.feeds {
		f.notify()
	}
}

func (f *feed) notify() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// A news is what a feed has for a follower: a batch of entries, or that it has to read them,
// or that nothing comes any more (err may say why), or a channel that the next change closes.
type news struct {
	entries []runlog.Entry
	behind  bool
	ended   bool
	err     error
	changed <-chan struct{}
}

func (h *hub) next(f *feed, after uint64) news {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch n := len(f.entries); {
	case h.closed:
		return news{ended: true, err: ErrClosed}
	case f.ended:
		return news{ended: true}
	case n > 0 && f.entries[n-1].Seq > after:
		first := f.entries[0].Seq
		if first > after+1 {
			return news{behind: true}
		}
		from := after + 1 - first
		to := min(from+runlog.MaxBatchEntries, uint64(n))
		return news{entries: f.entries[from:to:to]}
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return news{changed: f.changed}
}

// Follow implements [runlog.Log]. It ends with [ErrClosed] when the store closes.
func (s *Store) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		f := s.hub.join(run) // before it reads, so that nothing falls in between
		if f == nil {
			yield(nil, ErrClosed)
			return
		}
		defer s.hub.leave(run, f)
		err := s.follow(ctx, run, after, f, yield)
		if err != nil {
			yield(nil, s.readError(err))
		}
	}
}

// follow yields the entries of a run. The error is yet to be yielded.
func (s *Store) follow(ctx context.Context, run string, after uint64, f *feed, yield func([]runlog.Entry, error) bool) error {
	finished := false
	give := func(entries []runlog.Entry, err error) bool {
		if err == nil {
			finished = entries[len(entries)-1].Kind == runlog.KindFinished
		}
		return yield(entries, err) && !finished
	}
	h, err := s.findHead(ctx, run)
	if err != nil {
		return err
	}
	num := h.num
	if after >= h.last {
		if finished, err = s.isFinished(ctx, run, h); err != nil || finished {
			return err
		}
	}
	for more := true; ; {
		if after, more = s.readUpTo(ctx, run, h, after, give); !more {
			return nil
		}
		behind, err := s.followFeed(ctx, f, &after, give)
		if err != nil || !behind {
			return err
		}
		if h, err = s.findHead(ctx, run); errors.Is(err, runlog.ErrNotFound) || err == nil && h.num != num {
			return nil // it was deleted
		}
		if err != nil {
			return err
		}
	}
}

// followFeed yields what a feed has, until the follower has to read, which it reports, or has
// come to the end.
func (s *Store) followFeed(ctx context.Context, f *feed, after *uint64, give func([]runlog.Entry, error) bool) (behind bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n := s.hub.next(f, *after)
		switch {
		case n.behind || n.ended:
			return n.behind, n.err
		case len(n.entries) > 0:
			*after = n.entries[len(n.entries)-1].Seq
			if !give(n.entries, nil) {
				return false, nil
			}
			continue
		}
		select {
		case <-n.changed:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// isFinished reports whether the last entry of a run ends it.
func (s *Store) isFinished(ctx context.Context, run string, h head) (finished bool, err error) {
	_, more := s.readUpTo(ctx, run, h, h.last-1, func(entries []runlog.Entry, readErr error) bool {
		err = readErr
		finished = readErr == nil && entries[len(entries)-1].Kind == runlog.KindFinished
		return readErr == nil
	})
	_ = more
	return finished, err
}
