package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/mcp/changes"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/steps"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A session is what lasts between the messages of one client: one for each stdio
// process and, over HTTP, one for each Mcp-Session-Id. A request of the modern era has
// a session of its own.
type session struct {
	server *Server
	id     string
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
	steps *steps.Queue

	requests requests.Table

	initialized     chan struct{} // closed once the client has initialized
	markInitialized func()

	// runClient is what the runs of the session's calls know of its client. It is nil for
	// a client of 2026-07-28 over HTTP, which has no session.
	runClient *clientsession.Client
	markEnded func()

	mu             sync.Mutex
	caller         generators.Caller
	client         *client          // nil before initialize
	resumableCalls map[string]*call // by key
	handles        []string         // of runs, that the session has returned, unless its caller is identified
	subscribedURIs map[string]bool  // of resources
	hasEnded       bool
	lastActive     time.Time              // when the client last sent a message
	standalone     *standaloneStream      // nil if there is none
	polledTasks    map[string]*polledTask // by their run's id
	changes        *changes.Queue
	taskWatch      *tasks.Watch // nil until the client creates a task
}

func (s *Server) newSession(id string, caller generators.Caller, pages func() (string, error)) *session {
	sess := &session{
		server: s, id: id, caller: caller, pageBaseURL: pages, initialized: make(chan struct{}),
		resumableCalls: map[string]*call{}, subscribedURIs: map[string]bool{},
	}
	sess.markInitialized = sync.OnceFunc(func() { close(sess.initialized) })
	ended := make(chan struct{})
	sess.markEnded = sync.OnceFunc(func() { close(ended) })
	if id != "" {
		sess.runClient = &clientsession.Client{Session: fmt.Sprintf("%p", sess), Ended: ended}
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

// errClientLeft is the cause when a client has left a process that goes on.
var errClientLeft = errors.New("the client has left")

// handleNotification handles a notification of the client. It ignores unknown ones.
func (s *session) handleNotification(m msg.Incoming) {
	switch m.Method {
	case string(mcp.MethodNotificationInitialized):
		s.markInitialized()
	case string(mcp.MethodNotificationCancelled):
		s.handleCancelled(m)
	}
}

// sendRequest sends a request to the client and registers handler for the response. With
// an id that is in use it sends the same request again. If sending fails, the handler
// stays registered: the request may have arrived, or be sent again when the client
// resumes.
func (s *session) sendRequest(out messageSender, cursor, id, method string, params any, handler requests.ResponseHandler) error {
	if !s.requests.Await(id, handler) {
		return msg.ErrClientGone
	}
	return out.Send(cursor, msg.Encode(msg.Outgoing{ID: msg.StringID(id), Method: method, Params: params}))
}

// queueStep runs f, which may have to wait until the client reads. The goroutine that reads
// from the client must not wait for that, so on stdio the step queue runs f.
func (s *session) queueStep(f func()) {
	if s.steps == nil {
		f()
		return
	}
	s.steps.Add(f)
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
	calls := slices.Collect(maps.Values(s.resumableCalls))
	asking := s.takePolledAsking()
	s.mu.Unlock()
	for _, a := range asking {
		a.Cancel(cause)
	}
	s.requests.End(cause)
	s.markEnded()
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

// currentCaller returns the session's caller.
func (s *session) currentCaller() generators.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caller
}

// updateCaller sets the caller's name and roles, which may have changed since the
// session began. It reports whether the session is the caller's.
func (s *session) updateCaller(caller generators.Caller) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caller.ID != caller.ID {
		return false
	}
	if s.caller.Name == caller.Name && slices.Equal(s.caller.Roles, caller.Roles) {
		return true
	}
	if s.caller = caller; s.client != nil {
		c := *s.client
		c.caller = caller
		s.client = &c
	}
	return true
}

// updateClient replaces the client with a changed copy.
func (s *session) updateClient(change func(*client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := client{caller: s.caller, Client: msg.Client{Version: version20250326, LogLevel: msg.SeverityInfo}}
	if s.client != nil {
		c = *s.client
	}
	change(&c)
	s.client = &c
}
