// Package testserver is an MCP server for testing clients and gateways: it has a tool
// for every feature with which a server asks its client, and one for every fault that a
// client must survive. It speaks all versions of the protocol, or one that is selected.
//
// It doesn't use Beam's own server, whose job is to make the faults impossible. Messages
// are written as JSON, so that each tool says what is on the wire.
package testserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// Versions are the versions of the protocol that the server speaks, the newest first.
// Only the first has no sessions.
var Versions = []string{mcp.ProtocolVersion20260728, mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618}

// Options configure a server.
type Options struct {
	Protocol string // the only version that the server speaks; empty for all of Versions
	Fault    string // a fault of the list of tools or of the start; see [FaultNames]
	Stderr   io.Writer
	Exit     func(status int) // ends the process
	// Opened has an element for each URL that a person has opened. It may come before the
	// time that the tools are told to wait for.
	Opened <-chan struct{}
	// AskApart sends questions on the session's own stream rather than that of the request,
	// as many servers do that have sessions: they don't tell which call asks.
	AskApart bool
}

// object is a JSON object.
type object = map[string]any

// A Server is the test server. Its methods may be called concurrently.
type Server struct {
	options  Options
	versions []string
	tools    []*tool            // immutable, as are the handlers
	legacy   map[string]handler // by method, for the versions with sessions
	modern   map[string]handler

	mu       sync.Mutex
	fault    string
	lists    int // how often the list of tools was sent
	added    []*tool
	sessions map[string]*session // by id
	streams  map[*stream]bool    // where notifications of changes go
	tasks    map[string]*task
	openURLs map[string]bool // URL elicitations that were completed, by id
	texts    int             // the number of changes of the resource that changes
}

// New returns a server. It fails if an option is not known.
func New(o Options) (*Server, error) {
	s := &Server{
		options: o, versions: Versions, fault: o.Fault, tools: allTools(), legacy: handlers(false), modern: handlers(true),
		sessions: map[string]*session{}, streams: map[*stream]bool{}, tasks: map[string]*task{}, openURLs: map[string]bool{},
	}
	if o.Protocol != "" {
		if !slices.Contains(Versions, o.Protocol) {
			return nil, fmt.Errorf("the protocol version must be one of %q, not %q", Versions, o.Protocol)
		}
		s.versions = []string{o.Protocol}
	}
	if o.Fault == faultUnknownVersion && o.Protocol == "" {
		s.versions = Versions[1:] // those that negotiate
	}
	if o.Fault != "" && !slices.Contains(FaultNames(), o.Fault) {
		return nil, fmt.Errorf("the fault must be one of %q, not %q", FaultNames(), o.Fault)
	}
	return s, nil
}

// findTool returns the tool with a name, or nil.
func (s *Server) findTool(name string) *tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range slices.Concat(s.tools, s.added) {
		if t.name == name {
			return t
		}
	}
	return nil
}

// A sender sends messages to a client: on the stream of a response, or on stdout.
type sender interface {
	Send(cursor string, message []byte) error
}

// A stream is where the server sends notifications of changes: the one stream of a
// session, or a subscription, which says what it wants.
type stream struct {
	out          sender
	subscription []byte // the id of subscriptions/listen
	wants        func(method, uri string) bool
}

// addStream adds a stream, and returns a function that removes it.
func (s *Server) addStream(st *stream) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, st)
	}
}

// notifyAll sends a notification of a change to every client that wants it. A client
// that is gone needs none.
func (s *Server) notifyAll(method, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams {
		if !st.wants(method, uri) {
			continue
		}
		params := object{}
		if uri != "" {
			params["uri"] = uri
		}
		if st.subscription != nil {
			params["_meta"] = msg.SubscriptionMeta(st.subscription)
		}
		go st.out.Send("", msg.EncodeNotification(method, params))
	}
}

// A session is the state of one client between its requests. A modern client has a new
// one for each request.
type session struct {
	server *Server
	ctx    context.Context // done when the client has ended the session
	end    context.CancelCauseFunc

	mu       sync.Mutex
	version  string
	declared json.RawMessage // the client's capabilities
	lastID   int
	waiting  map[string]chan msg.Incoming       // requests to the client, by id
	calls    map[string]context.CancelCauseFunc // requests of the client, by id
	stream   sender                             // for messages that belong to no request; nil if there is none
	streamed chan struct{}                      // closed when there has been one
}

func (s *Server) newSession() *session {
	sess := &session{server: s, waiting: map[string]chan msg.Incoming{}, calls: map[string]context.CancelCauseFunc{}, streamed: make(chan struct{})}
	sess.ctx, sess.end = context.WithCancelCause(context.Background())
	return sess
}

// isInitialized reports whether the client has initialized the session, which a modern
// client never does.
func (s *session) isInitialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version != ""
}

// wantsChanges reports whether the client of a session is told of changes.
func (s *session) wantsChanges(string, string) bool { return s.isInitialized() }

// handleResponse passes the client's response to the request that waits for it. Other
// responses are ignored.
func (s *session) handleResponse(m msg.Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.waiting[string(m.ID)]; c != nil {
		delete(s.waiting, string(m.ID))
		c <- m
	}
}

// expectResponse returns the channel for the response to a request, and a function
// that must be called when nobody waits any more.
func (s *session) expectResponse(id string) (response chan msg.Incoming, forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	response = make(chan msg.Incoming, 1)
	s.waiting[id] = response
	return response, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waiting[id] == response {
			delete(s.waiting, id)
		}
	}
}

// newID returns the id of a request to the client.
func (s *session) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	return fmt.Sprintf(`"ask-%d"`, s.lastID)
}
