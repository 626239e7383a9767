package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/mcp/changes"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
)

// A session over HTTP ends with DELETE, or when its client has sent nothing for
// sessionIdleTimeout.
const (
	maxSessions        = 20_000
	maxSessionsOfOne   = maxSessions / 2 // so that one caller leaves some to others
	sessionIdleTimeout = time.Hour
)

var errTooManySessions = errors.New("too many clients are connected; try again later")

// sessions are those of a server's clients. Its methods may be called concurrently.
type sessions struct {
	changes *changes.Hub

	mu    sync.Mutex
	http  map[string]*session.Session // by Mcp-Session-Id
	stdio map[*session.Session]struct{}
}

func newSessions(h *changes.Hub) *sessions {
	return &sessions{changes: h, http: map[string]*session.Session{}, stdio: map[*session.Session]struct{}{}}
}

// open starts a session over HTTP.
func (s *sessions) open(caller generators.Caller, identified bool, pages func() (string, error)) (*session.Session, error) {
	sess := session.New(rand.Text(), caller, pages)
	sess.Resumable, sess.Identified = true, identified
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.http) >= maxSessions || s.count(caller.ID) >= maxSessionsOfOne {
		return nil, errTooManySessions
	}
	s.http[sess.ID] = sess
	s.changes.Add(sess.Changes.Queue)
	return sess, nil
}

// count returns how many sessions a caller has, or 0 if there are too few for that to
// matter. The caller holds mu.
func (s *sessions) count(caller string) (n int) {
	if len(s.http) < maxSessionsOfOne {
		return 0
	}
	for _, sess := range s.http {
		if sess.Caller().ID == caller {
			n++
		}
	}
	return n
}

// find returns the caller's session over HTTP with the given id, or nil.
func (s *sessions) find(id string, caller generators.Caller) *session.Session {
	s.mu.Lock()
	sess := s.http[id]
	s.mu.Unlock()
	if sess == nil || !sess.UpdateCaller(caller) {
		return nil
	}
	return sess
}

// remove ends a session over HTTP and forgets it.
func (s *sessions) remove(sess *session.Session) {
	s.mu.Lock()
	delete(s.http, sess.ID)
	s.mu.Unlock()
	s.changes.Remove(sess.Changes.Queue)
	sess.End(requests.ErrSessionEnded)
}

// addStdio adds a session over stdio; remove removes it.
func (s *sessions) addStdio(sess *session.Session) (remove func()) {
	s.changes.Add(sess.Changes.Queue)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stdio[sess] = struct{}{}
	return func() {
		s.changes.Remove(sess.Changes.Queue)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.stdio, sess)
	}
}

// allHTTP returns the sessions over HTTP.
func (s *sessions) allHTTP() []*session.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.http))
}

// end ends all sessions over HTTP.
func (s *sessions) end() {
	for _, sess := range s.allHTTP() {
		s.remove(sess)
	}
}

// endIdle ends idle sessions until ctx is done, and calls sweep every now and then.
func (s *sessions) endIdle(ctx context.Context, sweep func(context.Context)) {
	t := time.NewTicker(sessionIdleTimeout / 60)
	defer t.Stop()
	var swept time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if now.Sub(swept) >= sessionIdleTimeout {
				swept = now
				sweep(ctx)
			}
			for _, sess := range s.allHTTP() {
				if sess.IsIdle(now, sessionIdleTimeout) {
					s.remove(sess)
				}
			}
		}
	}
}

// maxClientName is the longest name of a client that is listed, in bytes.
const maxClientName = 80

// eachClient calls add with each client of the caller's that has a session; see
// [Server.EachClient].
func (s *sessions) eachClient(caller generators.Caller, add func(name, transport string, awaited int)) {
	all := s.allHTTP()
	s.mu.Lock()
	all = slices.AppendSeq(all, maps.Keys(s.stdio))
	s.mu.Unlock()
	for _, sess := range all {
		if sess.Caller().ID != caller.ID && !caller.HasRole(generators.RoleOperator) {
			continue
		}
		transport := "over HTTP"
		if sess.Steps != nil {
			transport = "over stdio"
		}
		_, awaited := sess.Requests.Count()
		name := "A client without a name"
		if c := sess.Client(); c != nil {
			name = cmp.Or(humanize.TruncateBytes(cleantext.Line(c.Name), maxClientName, "…"), name)
		}
		add(name, transport, awaited)
	}
}
