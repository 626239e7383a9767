package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/mcp/requests"
)

// A session over HTTP ends with DELETE, or when its client has sent nothing for
// sessionIdleTimeout.
const (
	maxSessions        = 20_000
	maxSessionsOfOne   = maxSessions / 2 // so that one caller leaves some to others
	sessionIdleTimeout = time.Hour
)

var errTooManySessions = errors.New("too many clients are connected; try again later")

// openSession starts a session.
func (s *Server) openSession(caller generators.Caller, pages func() (string, error)) (*session, error) {
	sess := s.newSession(rand.Text(), caller, pages)
	sess.resumable = true
	now := time.Now()
	sess.lastActive = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions || s.countSessions(caller.ID) >= maxSessionsOfOne {
		return nil, errTooManySessions
	}
	s.sessions[sess.id] = sess
	s.changes.Add(sess.changes)
	return sess, nil
}

// countSessions returns how many sessions a caller has, or 0 if there are too few for that
// to matter. Callers hold mu.
func (s *Server) countSessions(caller string) (n int) {
	if len(s.sessions) < maxSessionsOfOne {
		return 0
	}
	for _, sess := range s.sessions {
		if sess.currentCaller().ID == caller {
			n++
		}
	}
	return n
}

// endIdleSessions ends idle sessions until the server is closed, and removes the marks of
// runs that are gone.
func (s *Server) endIdleSessions() {
	t := time.NewTicker(sessionIdleTimeout / 60)
	defer t.Stop()
	var swept time.Time
	for {
		select {
		case <-s.closed.Done():
			return
		case now := <-t.C:
			if now.Sub(swept) >= sessionIdleTimeout {
				swept = now
				s.sweepMarks(s.closed)
			}
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

// isIdle reports whether the session has no open request or stream and its client has
// sent nothing for sessionIdleTimeout.
func (s *session) isIdle(now time.Time) bool {
	inFlight, _ := s.requests.Count()
	s.mu.Lock()
	defer s.mu.Unlock()
	return inFlight == 0 && s.standalone == nil && now.Sub(s.lastActive) > sessionIdleTimeout
}

// findSession returns the caller's session with the given id, or nil.
func (s *Server) findSession(id string, caller generators.Caller) *session {
	s.mu.Lock()
	sess := s.sessions[id]
	s.mu.Unlock()
	if sess == nil || !sess.updateCaller(caller) {
		return nil
	}
	sess.mu.Lock()
	sess.lastActive = time.Now()
	sess.mu.Unlock()
	return sess
}

// removeSession ends a session and forgets it.
func (s *Server) removeSession(sess *session) {
	s.mu.Lock()
	delete(s.sessions, sess.id)
	s.mu.Unlock()
	s.changes.Remove(sess.changes)
	sess.endSession(requests.ErrSessionEnded)
}

// openStandaloneStream registers the standalone stream. It ends an earlier one, which may
// be dead without having noticed. The caller must call the returned function when the
// stream ends.
func (s *session) openStandaloneStream(ctx context.Context, out messageSender) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	mine := &standaloneStream{ctx, cancel, out}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standalone != nil {
		s.standalone.cancel()
	}
	s.standalone = mine
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.standalone == mine {
			s.standalone = nil
		}
	}
}

// sendsPrimingEvents reports whether streams begin with an event to resume after (MCP
// 2025-11-25, Streamable HTTP). The version that initialize negotiated decides, not a
// request's header.
func (s *session) sendsPrimingEvents() bool {
	c := s.initializedClient()
	return s.resumable && c != nil && c.VersionAtLeast(version20251125)
}
