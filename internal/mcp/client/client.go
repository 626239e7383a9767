// Package client is an MCP client: a session with one server, which a child process
// serves over stdio or which has a URL. It speaks all versions of the protocol, hands
// on JSON as it was received, and knows to which call each message of the server
// belongs. It bounds what it reads; what a server does wrong ends in an error of the
// call or of the session, and nowhere else.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// Options are the options of a session.
type Options struct {
	// Info is the client's name and version, as an Implementation of MCP.
	Info json.RawMessage
	// Capabilities are the client's capabilities, as an object of MCP.
	Capabilities json.RawMessage
	// Versions are the protocol versions to speak; nil for all.
	Versions []string
	// ProbeTimeout is how long a server may take to respond to the probe for
	// 2026-07-28 before it is initialized as an older one. The default is a second
	// for a child process, and 5 seconds over HTTP.
	ProbeTimeout time.Duration
	// RequestTimeout bounds the session's own requests, such as those for lists. The
	// default is 30 seconds.
	RequestTimeout time.Duration
	// HTTP makes the requests of a server with a URL; nil for a transport of the
	// session's own.
	HTTP http.RoundTripper
	// Attribute chooses the call whose event a server's request becomes if the protocol
	// doesn't say which it belongs to and more than one call is in progress. Nil, or a nil
	// result, refuses the request. It must not block, and must not call methods of r.
	Attribute func(r *ServerRequest, inProgress []*Call) *Call
	// HandleNotification gets the notifications that belong to no call. It must not
	// block, and is called from several goroutines.
	HandleNotification func(Notification)
	// HandleRenewed is called when a server has forgotten the session, and another one has
	// begun: notifications may be lost. It must not block.
	HandleRenewed func()
	// HandleFault gets what the server does against the protocol, in a sentence. It
	// must not block, and is called from several goroutines.
	HandleFault func(text string)
	// HandleStderr gets the lines that a child process writes to stderr, without
	// control characters, at a bounded rate.
	HandleStderr func(line string)
	Logger       *slog.Logger
}

func (o Options) withDefaults(isHTTP bool) Options {
	if o.Info == nil {
		o.Info = json.RawMessage(`{"name":"beam","version":"0"}`)
	}
	if o.Capabilities == nil {
		o.Capabilities = json.RawMessage("{}")
	}
	if o.ProbeTimeout == 0 {
		o.ProbeTimeout = time.Second
		if isHTTP {
			o.ProbeTimeout = 5 * time.Second
		}
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.HandleNotification == nil {
		o.HandleNotification = func(Notification) {}
	}
	if o.HandleRenewed == nil {
		o.HandleRenewed = func() {}
	}
	if o.HandleFault == nil {
		o.HandleFault = func(string) {}
	}
	if o.HandleStderr == nil {
		o.HandleStderr = func(string) {}
	}
	return o
}

// A Notification is a notification of the server.
type Notification struct {
	Method string
	Params json.RawMessage
}

// Server says what a server told of itself.
type Server struct {
	Version      string          // of the protocol
	Info         json.RawMessage // an Implementation of MCP; nil if it told none
	Capabilities json.RawMessage // an object
	Instructions string
}

// Has reports whether the server has a capability, such as "tools", or one of its parts,
// such as "tools", "listChanged".
func (s Server) Has(path ...string) bool {
	value := member(s.Capabilities, path...)
	return value != nil && string(value) != "false" && string(value) != "null"
}

// A Session is a connection to a server. Its methods may be called from several
// goroutines.
type Session struct {
	options   Options
	transport transport
	server    Server // written before Connect returns

	ctx    context.Context // ends with the session, with the reason as its cause
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	lastID   int64
	pending  map[string]*pendingRequest // requests in progress, by their id
	requests map[string]*ServerRequest  // the server's, by their id
	calls    map[*Call]struct{}         // calls in progress
	isReady  bool                       // the server has been initialized or discovered
	faults   int                        // since faultsAt
	faultsAt time.Time                  // when faults was 0
	told     int                        // faults that HandleFault was told
}

// A transport carries a session's messages.
type transport interface {
	// send sends a message, without waiting for what comes back, which the transport
	// passes to Session.receive. x is the request of a request, and nil for other
	// messages. If the message can't be sent, the request fails.
	send(raw []byte, x *pendingRequest)
	// sendNow is send for a notification that must arrive before what is sent next.
	sendNow(raw []byte)
	// setVersion tells the protocol version that was agreed on.
	setVersion(version string)
	// close ends the connection, and returns once nothing is left of it. Each step of the end
	// may take the server as long as grace.
	close(grace time.Duration)
}

// ErrClosed is the cause of the end of a session that [Session.Close] has closed.
var ErrClosed = errors.New("the session was closed")

// Connect connects to a server, starting its process if it is a command, and agrees
// with it on a version of the protocol. The error says in which phase it failed.
// Ending ctx ends the attempt, and not a session that Connect has returned.
func Connect(ctx context.Context, server Target, options Options) (*Session, error) {
	options = options.withDefaults(server.URL != "")
	switch {
	case server.URL != "" && server.Type == SSE:
		return connect(ctx, options, func(s *Session) (transport, error) { return openSSE(ctx, s, server) })
	case server.URL != "":
		s, err := connect(ctx, options, func(s *Session) (transport, error) { return newHTTPTransport(s, server), nil })
		if err == nil || !mayBeOldSSE(err) {
			return s, err
		}
		old, oldErr := connect(ctx, options, func(s *Session) (transport, error) { return openSSE(ctx, s, server) })
		if oldErr != nil {
			return nil, err
		}
		return old, nil
	case server.Command != "":
		start := func(s *Session) (transport, error) { return startProcess(s, server) }
		s, err := connect(ctx, options, start)
		if errors.Is(err, errProbedLate) {
			options.Versions = []string{modernVersion}
			s, err = connect(ctx, options, start)
		}
		return s, err
	}
	return nil, errors.New("the server has neither a command nor a url")
}

// connect opens a transport and agrees on a version.
func connect(ctx context.Context, options Options, open func(*Session) (transport, error)) (*Session, error) {
	s := newSession(options)
	var err error
	if s.transport, err = open(s); err != nil {
		return nil, err
	}
	if err := (handshake{s}).agreeOnVersion(ctx); err != nil {
		grace := closeGrace
		if ctx.Err() != nil { // the caller doesn't wait any longer
			grace = quickGrace
		}
		s.End(err)
		s.transport.close(grace)
		return nil, err
	}
	return s, nil
}

func newSession(options Options) *Session {
	s := &Session{
		options: options,
		pending: make(map[string]*pendingRequest), requests: make(map[string]*ServerRequest), calls: make(map[*Call]struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// Server returns what the server told of itself.
func (s *Session) Server() Server { return s.server }

// IsModern reports whether the server speaks 2026-07-28, which has no sessions and
// sends no requests.
func (s *Session) IsModern() bool { return isModern(s.server.Version) }

// TellsCalls reports whether the server can say which call each of its requests belongs to:
// by the stream on which it comes, or because it makes none.
func (s *Session) TellsCalls() bool {
	_, isHTTP := s.transport.(*httpTransport)
	return isHTTP || s.IsModern()
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err returns why the session has ended, or nil.
func (s *Session) Err() error { return context.Cause(s.ctx) }

// How long a server may take for each step of the end of its session: a child process to end
// once its stdin is closed, and then once its process group has got SIGTERM.
const (
	closeGrace = 2 * time.Second
	quickGrace = 300 * time.Millisecond // if this program is ending, too
)

// Close ends the session and waits until nothing is left of it: a child process has
// ended, with its process group.
func (s *Session) Close() {
	s.End(ErrClosed)
	s.transport.close(closeGrace)
}

// CloseQuickly is Close for a program that is ending: it takes less than a second.
func (s *Session) CloseQuickly() {
	s.End(ErrClosed)
	s.transport.close(quickGrace)
}

// End ends the session without waiting: calls in progress fail with cause, and the server's
// requests are withdrawn. Only the first call counts. The caller still calls Close.
func (s *Session) End(cause error) {
	s.mu.Lock()
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	s.cancel(cause)
	pending, requests := s.pending, s.requests
	s.pending, s.requests = nil, nil
	s.mu.Unlock()
	for _, r := range requests {
		r.withdraw(cause)
	}
	for _, x := range pending {
		x.finish(nil, fmt.Errorf("the connection ended: %w", cause))
	}
}

// fault reports something that the server did against the protocol. After maxFaults in a
// minute, the session ends.
func (s *Session) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	if now := time.Now(); now.Sub(s.faultsAt) > time.Minute {
		s.faults, s.faultsAt = 0, now
	}
	s.faults++
	count := s.faults
	s.told++
	tell := s.told <= maxToldFaults
	s.mu.Unlock()
	if tell {
		s.options.HandleFault(text)
	}
	if count == maxFaults {
		s.End(fmt.Errorf("the server violated the protocol %d times in a minute, last: %s", count, text))
	}
}

const (
	maxFaults     = 10_000 // in a minute
	maxToldFaults = 100    // are told to HandleFault
)

// Notify sends a notification. Params may be nil.
func (s *Session) Notify(method string, params any) {
	s.notify(message.EncodeNotification(method, params))
}

// notify sends an encoded notification.
func (s *Session) notify(raw []byte) {
	if s.ctx.Err() == nil {
		s.transport.send(raw, nil)
	}
}
