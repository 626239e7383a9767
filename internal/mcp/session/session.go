// Package session keeps what lasts between the messages of one MCP client.
package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/clientsession"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/steps"
)

// A Session is what lasts between the messages of one client: one for each stdio
// process and, over HTTP, one for each Mcp-Session-Id. A request of the modern era has
// a session of its own, without an id. Its methods may be called concurrently. Its fields
// don't change once it serves messages.
type Session struct {
	ID string
	// PageBaseURL returns the base URL of Beam's pages, as this client reaches them.
	PageBaseURL func() (string, error)
	// Identified reports whether the caller is a known user or token, rather than anyone
	// who can reach the address.
	Identified bool
	// Resumable reports whether streams can be resumed.
	Resumable bool
	// Proxied reports whether the client is attached to another process.
	Proxied bool
	// Steps runs the steps of the calls of a stdio session, none of which has a
	// goroutine. It is nil over HTTP, where each request has its own goroutine anyway.
	Steps *steps.Queue
	// RunClient is what the runs of the session's calls know of its client. It is nil for
	// a client of 2026-07-28 over HTTP, which has no session.
	RunClient *clientsession.Client

	Requests requests.Table
	Calls    Calls
	Polled   PolledTasks
	Stream   Standalone
	Changes  *Changes

	handles handles
	peers   Peers // see Share

	initialized     chan struct{}
	markInitialized func()
	markEnded       func()

	lastID atomic.Uint64 // of a request of this server

	mu         sync.Mutex // guards the following fields
	caller     generators.Caller
	client     *requests.Client // nil before initialize
	lastActive time.Time        // when the client last sent a message
}

// New returns a session of a caller.
func New(id string, caller generators.Caller, pages func() (string, error)) *Session {
	s := &Session{ID: id, caller: caller, PageBaseURL: pages, initialized: make(chan struct{}), lastActive: time.Now()}
	s.markInitialized = sync.OnceFunc(func() { close(s.initialized) })
	ended := make(chan struct{})
	s.markEnded = sync.OnceFunc(func() { close(ended) })
	if id != "" {
		s.RunClient = &clientsession.Client{Session: fmt.Sprintf("%p", s), Ended: ended}
	}
	s.Changes = newChanges(func() bool { return s.Client() != nil })
	return s
}

// ErrClientLeft is the cause when a client has left a process that goes on.
var ErrClientLeft = errors.New("the client has left")

// Initialized returns a channel that is closed once the client has initialized.
func (s *Session) Initialized() <-chan struct{} { return s.initialized }

// MarkInitialized records that the client has initialized.
func (s *Session) MarkInitialized() { s.markInitialized() }

// SendRequest sends a request to the client and registers handler for the response. With
// an id that is in use it sends the same request again. If sending fails, the handler
// stays registered: the request may have arrived, or be sent again when the client
// resumes.
func (s *Session) SendRequest(out requests.Sender, cursor, id, method string, params any, handler requests.ResponseHandler) error {
	if !s.Requests.Await(id, handler) {
		return msg.ErrClientGone
	}
	return out.Send(cursor, msg.Encode(msg.Outgoing{ID: msg.StringID(id), Method: method, Params: params}))
}

// QueueStep runs f, which may have to wait until the client reads. The goroutine that reads
// from the client must not wait for that, so on stdio the step queue runs f.
func (s *Session) QueueStep(f func()) {
	if s.Steps == nil {
		f()
		return
	}
	s.Steps.Add(f)
}

// RunBlocking runs f, which may block: on a goroutine of its own if the caller is the one
// that reads from the client, otherwise on the caller's.
func (s *Session) RunBlocking(f func()) {
	if s.Steps == nil {
		f()
		return
	}
	go f()
}

// End ends the session and cancels its requests with cause.
func (s *Session) End(cause error) {
	for _, c := range s.Leave(cause) {
		c.Abandon()
	}
}

// Leave is End for a process that leaves the session, and its calls, which it returns, to its peers.
func (s *Session) Leave(cause error) []Call {
	calls := s.Calls.end()
	s.Polled.end(cause)
	s.Requests.End(cause)
	s.markEnded()
	s.Changes.Close()
	return calls
}

// Client returns the client that initialize introduced, or nil.
func (s *Session) Client() *requests.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// Caller returns the session's caller.
func (s *Session) Caller() generators.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caller
}

// UpdateCaller sets the caller's name and roles, which may have changed since the
// session began, and records that the client is active. It reports whether the session is
// the caller's.
func (s *Session) UpdateCaller(caller generators.Caller) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caller.ID != caller.ID {
		return false
	}
	s.lastActive = time.Now()
	if s.caller.Name == caller.Name && slices.Equal(s.caller.Roles, caller.Roles) {
		return true
	}
	if s.caller = caller; s.client != nil {
		c := *s.client
		c.Caller = caller
		s.client = &c
	}
	return true
}

// UpdateClient replaces the client with a changed copy.
func (s *Session) UpdateClient(change func(*requests.Client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := requests.Client{Caller: s.caller, Client: msg.Client{Version: mcp.ProtocolVersion20250326, LogLevel: msg.SeverityInfo}}
	if s.client != nil {
		c = *s.client
	}
	change(&c)
	s.client = &c
}

// IsIdle reports whether the session has no open request or stream and its client has
// sent nothing for a timeout.
func (s *Session) IsIdle(now time.Time, timeout time.Duration) bool {
	inFlight, _ := s.Requests.Count()
	s.mu.Lock()
	defer s.mu.Unlock()
	return inFlight == 0 && s.Stream.Current() == nil && now.Sub(s.lastActive) > timeout
}
