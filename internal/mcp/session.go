package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/run"
)

// An outlet is where the messages of one request go: the stream of its
// response, or the one stream that stdio has. Send returns when the message is
// written, so that messages keep their order and none is lost while the client
// is there. It may be called from several goroutines.
type outlet interface {
	// send writes a message. The cursor, which may be empty, is what a client
	// resumes after. The error is errGone.
	send(cursor string, message []byte) error
	// begin says what a client resumes after that has had no message yet.
	begin(cursor string)
}

// errGone: the client took a message no more.
var errGone = errors.New("the client is gone")

// A session is what lasts between the messages of one client: the process's
// one on stdio, one an Mcp-Session-Id over HTTP. A request of the modern era
// has a session of its own.
type session struct {
	server *Server
	id     string
	who    run.Caller
	// pages returns the origin of Beam's own pages, as this client reaches
	// them.
	pages func() (string, error)

	// identified says that who is a known person's or token's own, and not
	// whoever can reach the address.
	identified bool
	// resumable says that streams can break off and be resumed.
	resumable bool
	// joined says that the client's process is another than this one.
	joined bool
	// steps follows the calls of a stdio session, which wait without a goroutine
	// each; nil over HTTP, where each has a connection, and with it a goroutine.
	steps *stepQueue

	mu      sync.Mutex
	client  *client            // since initialize; nil before
	under   map[string]*flight // requests of the client under way, by raw id
	asked   map[string]asker   // of requests of ours, by raw id
	calls   map[string]*call   // that can be resumed, by key
	watched map[string]bool    // resources, by URI
	ended   bool
	seen    time.Time           // when the client was last heard
	alone   *context.CancelFunc // of the stream that tells what no request asked for
	changes *changes
}

func (s *Server) newSession(id string, who run.Caller, pages func() (string, error)) *session {
	x := &session{
		server: s, id: id, who: who, pages: pages,
		under: map[string]*flight{}, asked: map[string]asker{}, calls: map[string]*call{},
		watched: map[string]bool{}, changes: newChanges(),
	}
	x.changes.wants = x.wants
	return x
}

// wants tells whether a client of the older versions is told of a change: of
// every list, and of the resources that it subscribed to.
func (s *session) wants(_, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client != nil && (uri == "" || s.watched[uri])
}

// errEnded: the session is over.
var errEnded = errors.New("the session has ended")

// errLeft: the client has left, and whoever serves it goes on.
var errLeft = errors.New("the client has left")

// notified acts on a notification of the client. What it does not know it
// ignores.
func (s *session) notified(m message) {
	if m.Method == string(mcp.MethodNotificationCancelled) {
		s.cancelled(m)
	}
}

// maxKept bounds the calls of a session that can be resumed.
const maxKept = 10_000

// keep notes a call that can be resumed when its stream breaks off, unless the
// session has ended. Of too many, those that are over go first.
func (s *session) keep(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if len(s.calls) >= maxKept {
		for run, old := range s.calls {
			if old.isOver() {
				delete(s.calls, run)
			}
		}
	}
	s.calls[c.key()] = c
	return true
}

// drop forgets a call.
func (s *session) drop(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.key())
}

// An asker gets the response to a request of ours, once, in the response's
// goroutine.
type asker interface{ answer(message) }

// ask sends a request to the client, whose response by gets. Asking with the
// same id again sends the same request once more. If sending fails, the answer
// is awaited all the same: the request may have arrived, or be sent again when
// the client resumes.
func (s *session) ask(out outlet, cursor, id, method string, params any, by asker) error {
	raw, _ := json.Marshal(id)
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return errGone
	}
	s.asked[string(raw)] = by
	s.mu.Unlock()
	return out.send(cursor, encode(outgoing{ID: raw, Method: method, Params: params}))
}

// answered hands a response to whoever sent the request. One to a request that
// is not open is ignored: it may have been withdrawn while it was on its way.
func (s *session) answered(m message) {
	s.mu.Lock()
	by := s.asked[string(m.ID)]
	delete(s.asked, string(m.ID))
	s.mu.Unlock()
	if by != nil {
		by.answer(m)
	}
}

// forget stops waiting for a response. It tells whether there was none yet.
func (s *session) forget(id string) bool {
	raw, _ := json.Marshal(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.asked[string(raw)]
	delete(s.asked, string(raw))
	return open
}

// soon does what may have to wait until the client reads, which whoever reads
// the client's messages must not.
func (s *session) soon(f func()) {
	if s.steps == nil {
		f()
		return
	}
	s.steps.add(f)
}

// apart does what may wait on a goroutine of its own where the caller reads the
// client's messages, and on the caller's otherwise.
func (s *session) apart(f func()) {
	if s.steps == nil {
		f()
		return
	}
	go f()
}

// end ends the session: what is under way is cancelled with cause.
func (s *session) end(cause error) {
	s.mu.Lock()
	s.ended = true
	under := slices.Collect(maps.Values(s.under))
	calls := slices.Collect(maps.Values(s.calls))
	clear(s.asked)
	s.mu.Unlock()
	for _, f := range under {
		f.cancel(cause)
	}
	for _, c := range calls {
		c.abandon()
	}
	s.changes.close()
}

// current is the client that initialize introduced.
func (s *session) current() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// update changes what is known of the client.
func (s *session) update(change func(*client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := client{who: s.who, version: march2025, least: severity(slices.Index(severities, "info"))}
	if s.client != nil {
		c = *s.client
	}
	change(&c)
	s.client = &c
}
