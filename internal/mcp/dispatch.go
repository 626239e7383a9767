package mcp

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
	"github.com/photon-beam/beam/internal/runlog"
)

// A dispatcher admits requests, and has the handlers of their methods serve them.
type dispatcher struct {
	methods      map[string]method
	tools        *toolList
	traceContext func(context.Context, runlog.Trace) context.Context // nil if nothing is traced
}

// A method is how requests of one method are served. The handler passes the reply to
// answer once, perhaps after it has returned.
type method struct {
	era   era
	serve func(r *session.Request, answer func(requests.Reply))
}

// An era says in which versions of the protocol there is a method.
type era int

const (
	always     era = iota
	legacyOnly     // before 2026-07-28
	modernOnly     // from 2026-07-28 on
)

// atOnce returns the method of a handler that returns its reply.
func atOnce(e era, serve func(*session.Request) requests.Reply) method {
	return method{e, func(r *session.Request, answer func(requests.Reply)) { answer(unlessCancelled(r, serve(r))) }}
}

// unlessCancelled returns a reply, which is empty if the client has cancelled the request.
func unlessCancelled(r *session.Request, reply requests.Reply) requests.Reply {
	if r.InFlight.Cause() == requests.ErrCancelled {
		return requests.Reply{}
	}
	return reply
}

// serveByLibrary has the library serve a request.
func serveByLibrary(l library, r *session.Request) requests.Reply {
	result, refused := l.serve(r)
	if refused != nil {
		return unlessCancelled(r, r.Error(refused))
	}
	return unlessCancelled(r, r.Result(result))
}

// libraryUnless returns a handler that has the library serve what another one doesn't.
func libraryUnless(l library, serve func(*session.Request, func(requests.Reply)) bool) func(*session.Request, func(requests.Reply)) {
	return func(r *session.Request, answer func(requests.Reply)) {
		if !serve(r, answer) {
			answer(serveByLibrary(l, r))
		}
	}
}

// admit registers a request and returns the work that remains. Callers must call it in the
// order of the client's messages. Over HTTP, h holds the request's headers, which must
// agree with its body; on stdio, it is nil.
func (d *dispatcher) admit(ctx context.Context, sess *session.Session, out requests.Sender, m msg.Incoming, h http.Header) requests.Deferred {
	refuse := func(e *msg.Error) requests.Deferred { return requests.Immediate(requests.ErrorReply(m.ID, e)) }
	p, refused := requests.ParseParams(m)
	if refused != nil {
		return refuse(refused)
	}
	r := &session.Request{Session: sess, Sender: out, Message: m, Params: p}
	if r.Client, refused = d.identifyClient(sess, m, p, h); refused != nil {
		return refuse(refused)
	}
	if d.traceContext != nil {
		ctx = d.traceContext(ctx, p.Meta.LogTrace())
	}
	inFlight, refused := sess.Requests.Register(ctx, m.ID)
	if refused != nil {
		return refuse(refused)
	}
	r.InFlight = inFlight
	return func(answer func(requests.Reply)) {
		d.serve(r, func(reply requests.Reply) { // which doesn't keep the request in memory while it waits
			sess.Requests.Finish(inFlight)
			answer(reply)
		})
	}
}

// serve serves a registered request and passes its reply to answer.
func (d *dispatcher) serve(r *session.Request, answer func(requests.Reply)) {
	name := r.Message.Method
	if tasks.IsMethod(name) {
		name = anyTaskMethod
	}
	m, ok := d.methods[name]
	switch {
	case !ok:
		answer(r.Error(msg.Errorf(mcp.METHOD_NOT_FOUND, "Method %s not found", name)))
	case m.era == legacyOnly && r.Client.IsModern():
		answer(r.Error(msg.Errorf(mcp.METHOD_NOT_FOUND, "%q was removed in protocol version %s", name, mcp.ProtocolVersion20260728)))
	case m.era == modernOnly && !r.Client.IsModern():
		answer(r.Error(msg.Errorf(mcp.METHOD_NOT_FOUND, "%q requires protocol version %s or later", name, mcp.ProtocolVersion20260728)))
	default:
		m.serve(r, answer)
	}
}

// anyTaskMethod stands for the methods of tasks.
const anyTaskMethod = "tasks/"

// identifyClient returns the client of a request: the one that the request itself
// describes in the modern era, and otherwise the one that initialize introduced. Before
// initialize, only initialize and ping are allowed.
func (d *dispatcher) identifyClient(sess *session.Session, m msg.Incoming, p *requests.Params, h http.Header) (*requests.Client, *msg.Error) {
	if mcp.IsModernProtocol(p.Meta.ProtocolVersion()) || mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) {
		return d.newModernClient(sess.Caller(), m, p, h)
	}
	if c := sess.Client(); c != nil {
		return c, nil
	}
	switch m.Method {
	case string(mcp.MethodInitialize), string(mcp.MethodPing):
		return &requests.Client{Caller: sess.Caller(), Client: msg.Client{Version: mcp.ProtocolVersion20251125, LogLevel: msg.NoLogging}}, nil
	case string(mcp.MethodServerDiscover):
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	return nil, msg.Errorf(mcp.INVALID_REQUEST, "send initialize first, or a protocol version in each request's _meta (2026-07-28)")
}

// newModernClient returns the client of a request that names its own version (MCP
// 2026-07-28, Per-request protocol fields). Over HTTP, the headers must agree with the
// body.
func (d *dispatcher) newModernClient(caller generators.Caller, m msg.Incoming, p *requests.Params, h http.Header) (*requests.Client, *msg.Error) {
	version := p.Meta.ProtocolVersion()
	if version == "" {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "_meta has no %s", mcp.MetaKeyProtocolVersion)
	}
	if h != nil {
		if header := h.Get(mcp.HeaderProtocolVersion); header != version {
			return nil, msg.Errorf(mcp.HEADER_MISMATCH, "the header %s is %q but _meta has %q", mcp.HeaderProtocolVersion, header, version)
		}
	}
	if !requests.IsSupported(version) {
		return nil, unsupportedVersionError(version)
	}
	if p.Meta.Capabilities == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "_meta lacks %s, an object; it may be empty", mcp.MetaKeyClientCapabilities)
	}
	if err := d.checkHeaders(caller, version, m, p.Name, h); err != nil {
		return nil, msg.Errorf(mcp.HEADER_MISMATCH, "%v", err)
	}
	c := &requests.Client{
		Caller: caller, Name: p.Meta.ClientInfo.String(),
		Client: msg.Client{Version: version, Capabilities: *p.Meta.Capabilities, LogLevel: msg.NoLogging},
	}
	if p.Meta.LogLevel != "" {
		level, ok := msg.ParseSeverity(string(p.Meta.LogLevel))
		if !ok {
			return nil, unknownLogLevelError(string(p.Meta.LogLevel))
		}
		c.LogLevel = level
	}
	return c, nil
}

// checkHeaders compares the standard headers, and those that the schema of a tool that
// the caller may use requires, with the body.
func (d *dispatcher) checkHeaders(caller generators.Caller, version string, m msg.Incoming, tool string, h http.Header) error {
	if h == nil {
		return nil
	}
	if err := mcp.ValidateStandardHeaders(h.Get, version, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return err
	}
	if named, err := tasks.CheckNameHeader(m, h); named {
		return err
	}
	if m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	return d.tools.checkHeaders(caller, tool, m, h)
}

func unsupportedVersionError(version string) *msg.Error {
	e := msg.Errorf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "protocol version %q is not supported", version)
	e.Data = mcp.UnsupportedProtocolVersionData{Supported: requests.SupportedVersions, Requested: version}
	return e
}
