package web

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// seated is how many pages of one browser keep their stream. HTTP/1.1 gives a
// browser six connections to a host: more open pages than that, each with a
// stream, would leave none for what a person does.
const seated = 4

// seats tell which of a browser's pages keep their stream. The others look in
// now and then. The newest page is likely the one that is looked at, so it gets
// a seat, and the oldest one rises for it; a page that comes back takes one only
// if it is free.
type seats struct {
	mu    sync.Mutex
	taken map[string][]*seat // by browser, the oldest first
}

type seat struct{ rise context.CancelCauseFunc }

// errRise is why a seated page's context ends if another needs the seat.
var errRise = errors.New("a newer page needs the connection")

func newSeats() *seats { return &seats{taken: make(map[string][]*seat)} }

// take seats a page of a browser. It keeps its seat until it calls leave, or the
// context that is returned ends: because of its parent, or with the cause
// errRise. It returns false if there is no seat; then leave does nothing.
func (s *seats) take(parent context.Context, browser string, again bool) (ctx context.Context, leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	others := s.taken[browser]
	if len(others) >= seated {
		if again {
			return parent, func() {}, false
		}
		others[0].rise(errRise)
		others = slices.Delete(others, 0, 1)
	}
	ctx, rise := context.WithCancelCause(parent)
	own := &seat{rise}
	s.taken[browser] = append(others, own)
	return ctx, func() { s.leave(browser, own) }, true
}

func (s *seats) leave(browser string, own *seat) {
	own.rise(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(s.taken[browser], func(other *seat) bool { return other == own })
	if s.taken[browser] = left; len(left) == 0 {
		delete(s.taken, browser)
	}
}
