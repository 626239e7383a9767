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

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// A messageSender is where the messages of one request go: the stream of its
// response, or the one stream that stdio has. Send returns when the message is
// written, so that messages keep their order and none is lost while the client
// is there. It may be called from several goroutines.
type messageSender interface {
	// send writes a message. The cursor, which may be empty, is what a client
	// resumes after. The error is errGone.
	send(cursor string, message []byte) error
	// setResumeCursor says what a client resumes after that has had no message yet.
	setResumeCursor(cursor string)
}

// errClientGone: the client took a message no more.
var errClientGone = errors.New("the client is gone")

// A session is what lasts between the messages of one client: the process's
// one on stdio, one an Mcp-Session-Id over HTTP. A request of the modern era
// has a session of its own.
type session struct {
	server *Server
	id     string
	caller engine.Caller
	// pageBaseURL returns the origin of Beam's own pages, as this client reaches
	// them.
	pageBaseURL func() (string, error)

	// identified says that who is a known person's or token's own, and not
	// whoever can reach the address.
	identified bool
	// resumable says that streams can break off and be resumed.
	resumable bool
	// proxied says that the client's process is another than this one.
	proxied bool
	// steps follows the calls of a stdio session, which wait without a goroutine
	// each; nil over HTTP, where each has a connection, and with it a goroutine.
	steps *stepQueue

	mu               sync.Mutex
	client           *client                     // since initialize; nil before
	inFlightRequests map[string]*inFlightRequest // requests of the client under way, by raw id
	awaitedResponses map[string]responseHandler  // of requests of ours, by raw id
	resumableCalls   map[string]*call            // that can be resumed, by key
	subscribedURIs   map[string]bool             // resources, by URI
	hasEnded         bool
	lastActive       time.Time           // when the client was last heard
	cancelStandalone *context.CancelFunc // of the stream that tells what no request asked for
	changes          *changeQueue
}

func (s *Server) newSession(id string, caller engine.Caller, pages func() (string, error)) *session {
	sess := &session{
		server: s, id: id, caller: caller, pageBaseURL: pages,
		inFlightRequests: map[string]*inFlightRequest{}, awaitedResponses: map[string]responseHandler{}, resumableCalls: map[string]*call{},
		subscribedURIs: map[string]bool{}, changes: newChangeQueue(),
	}
	sess.changes.filter = sess.wantsChange
	return sess
}

// wantsChange tells whether a client of the older versions is told of a change: of
// every list, and of the resources that it subscribed to.
func (s *session) wantsChange(_, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client != nil && (uri == "" || s.subscribedURIs[uri])
}

// errSessionEnded: the session is over.
var errSessionEnded = errors.New("the session has ended")

// errClientLeft: the client has left, and whoever serves it goes on.
var errClientLeft = errors.New("the client has left")

// handleNotification acts on a notification of the client. What it does not know it
// ignores.
func (s *session) handleNotification(m message) {
	if m.Method == string(mcp.MethodNotificationCancelled) {
		s.handleCancelled(m)
	}
}

// maxResumableCalls bounds the calls of a session that can be resumed.
const maxResumableCalls = 10_000

// addResumableCall notes a call that can be resumed when its stream breaks off, unless the
// session has ended. Of too many, those that are over go first.
func (s *session) addResumableCall(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return false
	}
	if len(s.resumableCalls) >= maxResumableCalls {
		for run, old := range s.resumableCalls {
			if old.hasEnded() {
				delete(s.resumableCalls, run)
			}
		}
	}
	s.resumableCalls[c.key()] = c
	return true
}

// removeResumableCall forgets a call.
func (s *session) removeResumableCall(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resumableCalls, c.key())
}

// A responseHandler gets the response to a request of ours, once, in the response's
// goroutine.
type responseHandler interface{ handleResponse(message) }

// sendRequest sends a request to the client, whose response by gets. Asking with the
// same id again sends the same request once more. If sending fails, the answer
// is awaited all the same: the request may have arrived, or be sent again when
// the client resumes.
func (s *session) sendRequest(out messageSender, cursor, id, method string, params any, by responseHandler) error {
	raw, _ := json.Marshal(id)
	s.mu.Lock()
	if s.hasEnded {
		s.mu.Unlock()
		return errClientGone
	}
	s.awaitedResponses[string(raw)] = by
	s.mu.Unlock()
	return out.send(cursor, msg.Encode(msg.Outgoing{ID: raw, Method: method, Params: params}))
}

// handleResponse hands a response to whoever sent the request. One to a request that
// is not open is ignored: it may have been withdrawn while it was on its way.
func (s *session) handleResponse(m message) {
	s.mu.Lock()
	by := s.awaitedResponses[string(m.ID)]
	delete(s.awaitedResponses, string(m.ID))
	s.mu.Unlock()
	if by != nil {
		by.handleResponse(m)
	}
}

// forgetRequest stops waiting for a response. It tells whether there was none yet.
func (s *session) forgetRequest(id string) bool {
	raw, _ := json.Marshal(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.awaitedResponses[string(raw)]
	delete(s.awaitedResponses, string(raw))
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

// endSession ends the session: what is under way is cancelled with cause.
func (s *session) endSession(cause error) {
	s.mu.Lock()
	s.hasEnded = true
	under := slices.Collect(maps.Values(s.inFlightRequests))
	calls := slices.Collect(maps.Values(s.resumableCalls))
	clear(s.awaitedResponses)
	s.mu.Unlock()
	for _, f := range under {
		f.cancel(cause)
	}
	for _, c := range calls {
		c.abandonRun()
	}
	s.changes.close()
}

// initializedClient is the client that initialize introduced.
func (s *session) initializedClient() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// updateClient changes what is known of the client.
func (s *session) updateClient(change func(*client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := client{s.caller, msg.Client{Version: version20250326, LogLevel: msg.SeverityInfo}}
	if s.client != nil {
		c = *s.client
	}
	change(&c)
	s.client = &c
}
