package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// Sessions over HTTP end with DELETE, or when nothing was heard of them for
// idleFor.
const (
	maxSessions        = 20_000
	sessionIdleTimeout = time.Hour
)

var errTooManySessions = errors.New("too many clients are connected; try again later")

// openSession begins a session.
func (s *Server) openSession(caller engine.Caller, pages func() (string, error)) (*session, error) {
	sess := s.newSession(rand.Text(), caller, pages)
	sess.resumable = true
	now := time.Now()
	sess.lastActive = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		return nil, errTooManySessions
	}
	s.sessions[sess.id] = sess
	s.changeQueues[sess.changes] = struct{}{}
	return sess, nil
}

// endIdleSessions ends the sessions of which nothing was heard for long, until the
// server is closed.
func (s *Server) endIdleSessions() {
	t := time.NewTicker(sessionIdleTimeout / 60)
	defer t.Stop()
	for {
		select {
		case <-s.closed.Done():
			return
		case now := <-t.C:
			s.mu.Lock()
			all := slices.Collect(maps.Values(s.sessions))
			s.mu.Unlock()
			for _, sess := range all {
				if sess.isIdle(now) {
					s.removeSession(sess)
				}
			}
		}
	}
}

// isIdle tells whether nothing was heard of a session for long.
func (s *session) isIdle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inFlightRequests) == 0 && s.cancelStandalone == nil && now.Sub(s.lastActive) > sessionIdleTimeout
}

// findSession is the session of that id, if it is the caller's own.
func (s *Server) findSession(id string, caller engine.Caller) *session {
	s.mu.Lock()
	sess := s.sessions[id]
	s.mu.Unlock()
	if sess == nil || sess.caller.Owner() != caller.Owner() {
		return nil
	}
	sess.mu.Lock()
	sess.lastActive = time.Now()
	sess.mu.Unlock()
	return sess
}

// removeSession ends a session.
func (s *Server) removeSession(sess *session) {
	s.mu.Lock()
	delete(s.sessions, sess.id)
	delete(s.changeQueues, sess.changes)
	s.mu.Unlock()
	sess.endSession(errSessionEnded)
}

// openStandaloneStream makes a stream the one that tells what no request asked for; the
// one before, which may be dead without having noticed, ends.
func (s *session) openStandaloneStream(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelStandalone != nil {
		(*s.cancelStandalone)()
	}
	mine := &cancel
	s.cancelStandalone = mine
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.cancelStandalone == mine {
			s.cancelStandalone = nil
		}
	}
}

// findResumableCall is the call with a key, if it can be resumed.
func (s *session) findResumableCall(key string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumableCalls[key]
}

// sendsPrimingEvents tells whether streams begin with an event to resume after (MCP
// 2025-11-25, Streamable HTTP). It goes by what initialize agreed on, not by
// what a request's header says.
func (s *session) sendsPrimingEvents() bool {
	c := s.initializedClient()
	return s.resumable && c != nil && c.VersionAtLeast(version20251125)
}

// parseCursor is the inverse of [call.cursor].
func parseCursor(cursor string) (key string, seq uint64, ok bool) {
	if id, found := cutZeroOrdinal(cursor); found {
		return id, 0, true
	}
	return runlog.SplitAskID(cursor) // it is written in the same way
}

func cutZeroOrdinal(cursor string) (string, bool) {
	n := len(cursor) - len(".0")
	if n <= 0 || cursor[n:] != ".0" {
		return "", false
	}
	return cursor[:n], true
}
