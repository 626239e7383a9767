package web

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// maxStreamsPerBrowser is how many pages of one browser keep their stream. HTTP/1.1 gives a
// browser six connections to a host: more open pages than that, each with a
// stream, would leave none for what a person does.
const maxStreamsPerBrowser = 4

// streamSlots tell which of a browser's pages keep their stream. The others look in
// now and then. The newest page is likely the one that is looked at, so it gets
// a seat, and the oldest one rises for it; a page that comes back takes one only
// if it is free.
type streamSlots struct {
	mu        sync.Mutex
	byBrowser map[string][]*streamSlot // by browser, the oldest first
}

type streamSlot struct{ revoke context.CancelCauseFunc }

// errSlotRevoked is why a seated page's context ends if another needs the seat.
var errSlotRevoked = errors.New("a newer page needs the connection")

func newStreamSlots() *streamSlots { return &streamSlots{byBrowser: make(map[string][]*streamSlot)} }

// acquire seats a page of a browser. It keeps its seat until it calls leave, or the
// context that is returned ends: because of its parent, or with the cause
// errRise. It returns false if there is no seat; then leave does nothing.
func (s *streamSlots) acquire(parent context.Context, browser string, again bool) (ctx context.Context, leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	others := s.byBrowser[browser]
	if len(others) >= maxStreamsPerBrowser {
		if again {
			return parent, func() {}, false
		}
		others[0].revoke(errSlotRevoked)
		others = slices.Delete(others, 0, 1)
	}
	ctx, rise := context.WithCancelCause(parent)
	own := &streamSlot{rise}
	s.byBrowser[browser] = append(others, own)
	return ctx, func() { s.release(browser, own) }, true
}

func (s *streamSlots) release(browser string, own *streamSlot) {
	own.revoke(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(s.byBrowser[browser], func(other *streamSlot) bool { return other == own })
	if s.byBrowser[browser] = left; len(left) == 0 {
		delete(s.byBrowser, browser)
	}
}
