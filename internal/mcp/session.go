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
	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A session is what lasts between the messages of one client: one for each stdio
// process and, over HTTP, one for each Mcp-Session-Id. A request of the modern era has
// a session of its own.
type session struct {
	server *Server
	id     string
	caller engine.Caller
	// pageBaseURL returns the base URL of Beam's pages, as this client reaches them.
	pageBaseURL func() (string, error)

	// identified reports whether caller is a known user or token, rather than anyone
	// who can reach the address.
	identified bool
	// resumable reports whether streams can be resumed.
	resumable bool
	// proxied reports whether the client is attached to another process.
	proxied bool
	// steps runs the steps of the calls of a stdio session, none of which has a
	// goroutine. It is nil over HTTP, where each request has its own goroutine anyway.
	steps *stepQueue

	mu               sync.Mutex
	client           *client                     // nil before initialize
	inFlightRequests map[string]*inFlightRequest // requests of the client, by raw id
	awaitedResponses map[string]responseHandler  // to requests of this server, by raw id
	resumableCalls   map[string]*call            // by key
	subscribedURIs   map[string]bool             // of resources
	hasEnded         bool
	lastActive       time.Time           // when the client last sent a message
	cancelStandalone *context.CancelFunc // of the stream for messages that belong to no request
	changes          *changes.Queue
	taskWatch        *tasks.Watch // nil until the client creates a task
}

func (s *Server) newSession(id string, caller engine.Caller, pages func() (string, error)) *session {
	sess := &session{
		server: s, id: id, caller: caller, pageBaseURL: pages,
		inFlightRequests: map[string]*inFlightRequest{}, awaitedResponses: map[string]responseHandler{}, resumableCalls: map[string]*call{},
		subscribedURIs: map[string]bool{},
	}
	sess.changes = changes.NewQueue(sess.wantsChange)
	return sess
}

// wantsChange reports whether a client of the older versions is notified of a change.
// It is notified of every list, and of the resources that it subscribed to.
func (s *session) wantsChange(_, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client != nil && (uri == "" || s.subscribedURIs[uri])
}

// errSessionEnded is the cause with which a session's requests are cancelled.
var errSessionEnded = errors.New("the session has ended")

// errClientLeft is the cause when a client has left a process that goes on.
var errClientLeft = errors.New("the client has left")

// handleNotification handles a notification of the client. It ignores unknown ones.
func (s *session) handleNotification(m msg.Incoming) {
	if m.Method == string(mcp.MethodNotificationCancelled) {
		s.handleCancelled(m)
	}
}

// maxResumableCalls is the maximum number of resumable calls in a session.
const maxResumableCalls = 10_000

// addResumableCall adds a call that the client may resume if its stream breaks off. It
// reports false if the session has ended. If there are too many, it first evicts calls
// that have ended.
func (s *session) addResumableCall(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded {
		return false
	}
	if len(s.resumableCalls) >= maxResumableCalls {
		for key, old := range s.resumableCalls {
			if old.hasEnded() {
				delete(s.resumableCalls, key)
			}
		}
	}
	s.resumableCalls[c.key()] = c
	return true
}

func (s *session) removeResumableCall(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resumableCalls, c.key())
}

// A responseHandler receives the response to a request of this server, once, on the
// goroutine that received it.
type responseHandler interface{ handleResponse(msg.Incoming) }

// sendRequest sends a request to the client and registers by for the response. With an
// id that is in use it sends the same request again. If sending fails, the handler
// stays registered: the request may have arrived, or be sent again when the client
// resumes.
func (s *session) sendRequest(out messageSender, cursor, id, method string, params any, handler responseHandler) error {
	raw, _ := json.Marshal(id)
	s.mu.Lock()
	if s.hasEnded {
		s.mu.Unlock()
		return msg.ErrClientGone
	}
	s.awaitedResponses[string(raw)] = handler
	s.mu.Unlock()
	return out.Send(cursor, msg.Encode(msg.Outgoing{ID: raw, Method: method, Params: params}))
}

// handleResponse passes a response to its handler. It ignores a response without one:
// the request may have been withdrawn meanwhile.
func (s *session) handleResponse(m msg.Incoming) {
	s.mu.Lock()
	handler := s.awaitedResponses[string(m.ID)]
	delete(s.awaitedResponses, string(m.ID))
	s.mu.Unlock()
	if handler != nil {
		handler.handleResponse(m)
	}
}

// forgetRequest unregisters a response's handler, and reports whether there was no
// response yet.
func (s *session) forgetRequest(id string) bool {
	raw, _ := json.Marshal(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.awaitedResponses[string(raw)]
	delete(s.awaitedResponses, string(raw))
	return open
}

// runStep runs f, which may have to wait until the client reads. The goroutine that reads
// from the client must not wait for that, so on stdio the step queue runs f.
func (s *session) runStep(f func()) {
	if s.steps == nil {
		f()
		return
	}
	s.steps.add(f)
}

// runBlocking runs f, which may block: on a goroutine of its own if the caller is the one
// that reads from the client, otherwise on the caller's.
func (s *session) runBlocking(f func()) {
	if s.steps == nil {
		f()
		return
	}
	go f()
}

// endSession ends the session and cancels its requests with cause.
func (s *session) endSession(cause error) {
	s.mu.Lock()
	s.hasEnded = true
	inFlight := slices.Collect(maps.Values(s.inFlightRequests))
	calls := slices.Collect(maps.Values(s.resumableCalls))
	clear(s.awaitedResponses)
	s.mu.Unlock()
	for _, r := range inFlight {
		r.cancel(cause)
	}
	for _, c := range calls {
		c.abandonRun()
	}
	s.changes.Close()
}

// initializedClient returns the client that initialize introduced, or nil.
func (s *session) initializedClient() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// updateClient replaces the client with a changed copy.
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
