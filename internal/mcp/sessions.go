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
	// seenInterval is how often other processes are told that a client is there.
	seenInterval = sessionIdleTimeout / 6
)

var errTooManySessions = errors.New("too many clients are connected; try again later")

// sessions are those of a server's clients. Its methods may be called concurrently.
type sessions struct {
	changes *changes.Hub
	peers   *peers // nil if no other process serves them
	// subscribe subscribes to those of the resources that upstreams have.
	subscribe func(ctx context.Context, caller generators.Caller, uris ...string)

	mu    sync.Mutex
	http  map[string]*session.Session // by Mcp-Session-Id
	stdio map[*session.Session]struct{}
}

func newSessions(h *changes.Hub) *sessions {
	return &sessions{changes: h, http: map[string]*session.Session{}, stdio: map[*session.Session]struct{}{}}
}

// open starts a session over HTTP.
func (s *sessions) open(caller generators.Caller, identified bool, pages func() (string, error)) (*session.Session, error) {
	return s.keep(rand.Text(), caller, identified, pages)
}

// keep returns the session over HTTP with an id, which it makes if there is none.
func (s *sessions) keep(id string, caller generators.Caller, identified bool, pages func() (string, error)) (*session.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.http[id]; sess != nil {
		return sess, nil
	}
	sess := session.New(id, caller, pages)
	sess.Resumable, sess.Identified = true, identified
	if s.peers != nil {
		sess.Share(s.peers)
	}
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
func (s *sessions) find(id string, caller generators.Caller, pages func() (string, error)) (sess *session.Session, err error) {
	if s.peers != nil {
		sess, err = s.refresh(id, caller, pages)
	} else {
		s.mu.Lock()
		sess = s.http[id]
		s.mu.Unlock()
	}
	if sess == nil || err != nil || !sess.UpdateCaller(caller) {
		return nil, err
	}
	return sess, nil
}

// refresh returns the caller's session with the given id as other processes have left it, or nil.
func (s *sessions) refresh(id string, caller generators.Caller, pages func() (string, error)) (*session.Session, error) {
	r, err := s.peers.find(id)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		s.mu.Lock()
		sess := s.http[id]
		s.mu.Unlock()
		if sess != nil && sess.Caller().ID == caller.ID { // another process has ended it
			s.remove(sess)
		}
		return nil, nil
	case !r.HasCaller(caller):
		return nil, nil
	}
	sess, err := s.keep(id, caller, r.Identified, pages)
	if err != nil {
		return nil, err
	}
	if uris := sess.Apply(r); uris != nil {
		go s.subscribe(context.Background(), caller, uris...)
	}
	return sess, nil
}

// remove ends a session over HTTP in this process and forgets it.
func (s *sessions) remove(sess *session.Session) {
	s.forget(sess)
	sess.End(requests.ErrSessionEnded)
}

func (s *sessions) forget(sess *session.Session) {
	s.mu.Lock()
	delete(s.http, sess.ID)
	s.mu.Unlock()
	s.changes.Remove(sess.Changes.Queue)
}

// delete ends a session over HTTP.
func (s *sessions) delete(sess *session.Session) error {
	if s.peers != nil {
		if err := s.peers.end(sess.ID); err != nil {
			return err
		}
	}
	s.remove(sess)
	return nil
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

// end ends all sessions over HTTP, or leaves them to other processes.
func (s *sessions) end() {
	for _, sess := range s.allHTTP() {
		if s.peers == nil {
			s.remove(sess)
			continue
		}
		s.forget(sess)
		sess.Leave(requests.ErrSessionEnded)
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
				s.endIfIdle(sess, now)
			}
		}
	}
}

// endIfIdle ends a session if it is idle, in all processes that serve it.
func (s *sessions) endIfIdle(sess *session.Session, now time.Time) {
	isIdle := sess.IsIdle(now, sessionIdleTimeout)
	if s.peers == nil {
		if isIdle {
			s.remove(sess)
		}
		return
	}
	r, err := s.peers.find(sess.ID)
	switch {
	case err != nil: // the next time
	case r == nil:
		if sess.IsIdle(now, time.Minute) { // one that begins has no record yet
			s.remove(sess)
		}
	case isIdle && now.Sub(r.Seen) > sessionIdleTimeout:
		err = s.delete(sess)
	case now.Sub(r.Seen) > seenInterval && !sess.IsIdle(now, seenInterval):
		err = s.peers.see(sess.ID)
	}
	if err != nil {
		s.peers.logger.Error("ending an idle session", "err", err)
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
