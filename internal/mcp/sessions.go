package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// Sessions over HTTP end with DELETE, or when nothing was heard of them for
// idleFor.
const (
	maxSessions = 20_000
	idleFor     = time.Hour
)

var errSessions = errors.New("too many clients are connected; try again later")

// open begins a session.
func (s *Server) open(who run.Caller, pages func() (string, error)) (*session, error) {
	x := s.newSession(rand.Text(), who, pages)
	x.resumable = true
	now := time.Now()
	x.seen = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		return nil, errSessions
	}
	s.sessions[x.id] = x
	s.watchers[x.changes] = struct{}{}
	return x, nil
}

// forgetIdle ends the sessions of which nothing was heard for long, until the
// server is closed.
func (s *Server) forgetIdle() {
	t := time.NewTicker(idleFor / 60)
	defer t.Stop()
	for {
		select {
		case <-s.closed.Done():
			return
		case now := <-t.C:
			s.mu.Lock()
			all := slices.Collect(maps.Values(s.sessions))
			s.mu.Unlock()
			for _, x := range all {
				if x.idle(now) {
					s.forget(x)
				}
			}
		}
	}
}

// idle tells whether nothing was heard of a session for long.
func (s *session) idle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.under) == 0 && s.alone == nil && now.Sub(s.seen) > idleFor
}

// lookup is the session of that id, if it is the caller's own.
func (s *Server) lookup(id string, who run.Caller) *session {
	s.mu.Lock()
	x := s.sessions[id]
	s.mu.Unlock()
	if x == nil || x.who.Owner() != who.Owner() {
		return nil
	}
	x.mu.Lock()
	x.seen = time.Now()
	x.mu.Unlock()
	return x
}

// forget ends a session.
func (s *Server) forget(x *session) {
	s.mu.Lock()
	delete(s.sessions, x.id)
	delete(s.watchers, x.changes)
	s.mu.Unlock()
	x.end(errEnded)
}

// standAlone makes a stream the one that tells what no request asked for; the
// one before, which may be dead without having noticed, ends.
func (s *session) standAlone(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone != nil {
		(*s.alone)()
	}
	mine := &cancel
	s.alone = mine
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.alone == mine {
			s.alone = nil
		}
	}
}

// call is the call with a key, if it can be resumed.
func (s *session) call(key string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[key]
}

// primes tells whether streams begin with an event to resume after (MCP
// 2025-11-25, Streamable HTTP). It goes by what initialize agreed on, not by
// what a request's header says.
func (s *session) primes() bool {
	c := s.current()
	return s.resumable && c != nil && c.since(november2025)
}

// splitCursor is the inverse of [call.cursor].
func splitCursor(cursor string) (key string, seq uint64, ok bool) {
	if id, found := cutZero(cursor); found {
		return id, 0, true
	}
	return log.SplitAskID(cursor) // it is written in the same way
}

func cutZero(cursor string) (string, bool) {
	n := len(cursor) - len(".0")
	if n <= 0 || cursor[n:] != ".0" {
		return "", false
	}
	return cursor[:n], true
}
