package web

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxStreamsPerBrowser is how many pages of one browser keep a stream. With HTTP/1.1 a
// browser opens at most six connections to a host; more streams would leave none for
// other requests.
const maxStreamsPerBrowser = 4

// streamSlots assigns the streams of each browser to its pages. Pages without a slot
// poll. A new page, which is likely the visible one, takes the slot of the oldest page;
// a reconnecting page gets a slot only if one is free. It is safe for concurrent use.
type streamSlots struct {
	mu        sync.Mutex
	byBrowser map[string][]*streamSlot // oldest first
}

type streamSlot struct{ revoke context.CancelCauseFunc }

// errSlotRevoked is the cause of a page's context when it loses its slot and must
// reconnect.
var errSlotRevoked = errors.New("the page must reconnect")

func newStreamSlots() *streamSlots { return &streamSlots{byBrowser: make(map[string][]*streamSlot)} }

// acquire gives a page of a browser a slot, which it holds until it calls release or ctx
// ends, because of its parent or with the cause errSlotRevoked. If ok is false, the page
// has no slot and release does nothing.
func (s *streamSlots) acquire(parent context.Context, browser string, reconnected bool) (ctx context.Context, release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	others := s.byBrowser[browser]
	if len(others) >= maxStreamsPerBrowser {
		if reconnected {
			return parent, func() {}, false
		}
		others[0].revoke(errSlotRevoked)
		others = slices.Delete(others, 0, 1)
	}
	ctx, revoke := context.WithCancelCause(parent)
	own := &streamSlot{revoke}
	s.byBrowser[browser] = append(others, own)
	return ctx, func() { s.release(browser, own) }, true
}

// revokeAll takes all slots of a browser, because it has signed out.
func (s *streamSlots) revokeAll(browser string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range s.byBrowser[browser] {
		slot.revoke(errSlotRevoked)
	}
}

func (s *streamSlots) release(browser string, own *streamSlot) {
	own.revoke(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	remaining := slices.DeleteFunc(s.byBrowser[browser], func(other *streamSlot) bool { return other == own })
	if s.byBrowser[browser] = remaining; len(remaining) == 0 {
		delete(s.byBrowser, browser)
	}
}
