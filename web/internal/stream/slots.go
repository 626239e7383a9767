package stream

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

// slots assigns the streams of each browser to its pages. Pages without a slot
// poll. A new page, which is likely the visible one, takes the slot of the oldest page;
// a reconnecting page gets a slot only if one is free. It is safe for concurrent use.
type slots struct {
	mu        sync.Mutex
	byBrowser map[string][]*slot // oldest first
}

type slot struct{ revoke context.CancelCauseFunc }

// errSlotRevoked is the cause of a page's context when it loses its slot and must
// reconnect.
var errSlotRevoked = errors.New("the page must reconnect")

func newSlots() *slots { return &slots{byBrowser: make(map[string][]*slot)} }

// acquire gives a page of a browser a slot, which it holds until it calls release or ctx
// ends, because of its parent or with the cause errSlotRevoked. If ok is false, the page
// has no slot and release does nothing.
func (s *slots) acquire(parent context.Context, browser string, reconnected bool) (ctx context.Context, release func(), ok bool) {
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
	own := &slot{revoke}
	s.byBrowser[browser] = append(others, own)
	return ctx, func() { s.release(browser, own) }, true
}

// revokeAll takes all slots of a browser, because it has signed out.
func (s *slots) revokeAll(browser string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.byBrowser[browser] {
		each.revoke(errSlotRevoked)
	}
}

func (s *slots) release(browser string, own *slot) {
	own.revoke(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	remaining := slices.DeleteFunc(s.byBrowser[browser], func(other *slot) bool { return other == own })
	if s.byBrowser[browser] = remaining; len(remaining) == 0 {
		delete(s.byBrowser, browser)
	}
}
