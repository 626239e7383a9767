package store

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
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
	runlog.Tail
	followers int
	last      uint64 // the ordinal of the latest entry that is known
}

// feedBytes bounds what a feed keeps for followers that don't keep up.
const feedBytes = 768 << 10

// join adds a follower of a run, and returns its feed; nil if the store is closed.
func (h *hub) join(run string) *feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	f := h.feeds[run]
	if f == nil {
		f = &feed{Tail: runlog.Tail{MaxBytes: feedBytes}}
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
	f.Add(entries)
	f.last = max(f.last, entries[len(entries)-1].Seq)
}

// look tells the followers of a run that the log has entries up to an ordinal.
func (h *hub) look(run string, last uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[run]; f != nil && last > f.last {
		f.last = last
		f.Look(last)
	}
}

// followed returns the runs that are followed.
func (h *hub) followed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.feeds))
}

// end ends the followers of a run, which was deleted. Another run may start with its id.
func (h *hub) end(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[run]; f != nil {
		f.End(nil)
		delete(h.feeds, run)
	}
}

// close ends all followers.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, f := range h.feeds {
		f.End(ErrClosed)
	}
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
		if err := s.follow(ctx, run, after, f, yield); err != nil {
			yield(nil, err)
		}
	}
}

// follow yields the entries of a run: it reads those that its feed doesn't have. The error is yet
// to be yielded.
func (s *Store) follow(ctx context.Context, run string, after uint64, f *feed, yield func([]runlog.Entry, error) bool) error {
	give := func(entries []runlog.Entry, err error) bool {
		return yield(entries, err) && len(entries) > 0 && entries[len(entries)-1].Kind != runlog.KindFinished
	}
	h, err := s.findHead(ctx, run)
	if err != nil || h.ended && after >= h.last {
		return err
	}
	for num := h.num; ; {
		more := true
		if after, more = s.readUpTo(ctx, run, h, after, give); !more {
			return nil
		}
		if after, more = f.Follow(ctx, after, give); !more {
			return nil
		}
		if h, err = s.findHead(ctx, run); errors.Is(err, runlog.ErrNotFound) || err == nil && h.num != num {
			return nil // it was deleted
		}
		if err != nil {
			return err
		}
	}
}
