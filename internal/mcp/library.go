package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/session"
)

// A library is mcp-go's server, on which a program registers prompts, resources and
// completions of its own. Nothing else in this package uses it.
type library struct{ server *server.MCPServer }

// newLibrary returns a library to which the program has added.
func newLibrary(c Config) (library, error) {
	hooks := &server.Hooks{} // mcp-go calls a missing resource an internal error if the handler says so
	hooks.AddOnError(func(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
		if s, ok := server.ClientSessionFromContext(ctx).(*librarySession); ok && errors.Is(err, server.ErrResourceNotFound) {
			s.isMissing = true
		}
	})
	l := library{server.NewMCPServer(c.Name, c.Version, server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery(), server.WithHooks(hooks),
		server.WithInstructions(c.Instructions), server.WithResourceCapabilities(true, true))}
	if c.Upstreams != nil {
		server.WithPromptCapabilities(true)(l.server)
		server.WithCompletions()(l.server)
	}
	if c.Configure != nil {
		c.Configure(l.server)
	}
	for name := range l.server.ListTools() {
		return l, fmt.Errorf("the tool %q can't be added to mcp-go's server: make it a photon", name)
	}
	if l.describe().Capabilities.Prompts != nil {
		server.WithPromptCapabilities(true)(l.server) // adding a prompt doesn't declare list changes
	}
	return l, nil
}

// describe returns the capabilities, and what else the library says of the server.
func (l library) describe() mcp.DiscoverResult {
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":%q,"params":{"_meta":{%q:%q,%q:{}}}}`, mcp.MethodServerDiscover,
		mcp.MetaKeyProtocolVersion, mcp.ProtocolVersion20260728, mcp.MetaKeyClientCapabilities)
	answer, _ := l.server.HandleMessage(context.Background(), json.RawMessage(request)).(mcp.JSONRPCResponse)
	result, _ := answer.Result.(mcp.DiscoverResult) // zero if a hook of the program's refuses the request
	return result
}

// serve serves a request, and returns its result.
func (l library) serve(r *session.Request) (result any, refused *msg.Error) {
	sess := &librarySession{id: r.Session.ID, request: r}
	ctx := l.server.WithContext(r.InFlight.NewContext(), sess)
	switch answer := l.server.HandleMessage(ctx, r.Message.Raw).(type) {
	case mcp.JSONRPCResponse:
		return answer.Result, nil
	case mcp.JSONRPCError:
		if sess.isMissing {
			return nil, missingResourceError(r, missingResourceCode(r.Client))
		}
		return nil, &msg.Error{Code: answer.Error.Code, Message: answer.Error.Message, Data: answer.Error.Data}
	}
	return nil, msg.Errorf(mcp.INTERNAL_ERROR, "Beam could not serve this request")
}

// watch calls report with the changes that the library announces, until ctx is done.
func (l library) watch(ctx context.Context, report func(mcp.JSONRPCNotification)) error {
	sink := &librarySession{id: "changes", notifications: make(chan mcp.JSONRPCNotification, 4096)} // each takes some microseconds
	if err := l.server.RegisterSession(ctx, sink); err != nil {
		return err
	}
	go func() {
		defer l.server.UnregisterSession(context.WithoutCancel(ctx), sink.SessionID())
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case n := <-sink.notifications:
				report(n)
			}
		}
	}()
	return nil
}

// A librarySession is what mcp-go takes for a session: that of one request, or the one that
// receives what is announced to all, instead of clients, which may be too slow for mcp-go.
type librarySession struct {
	id            string
	request       *session.Request
	notifications chan mcp.JSONRPCNotification // nil drops them
	isMissing     bool                         // the request failed because there is no such resource
}

var _ server.SessionWithClientInfo = (*librarySession)(nil)

func (s *librarySession) Initialize()                                         {}
func (s *librarySession) Initialized() bool                                   { return true }
func (s *librarySession) SessionID() string                                   { return s.id }
func (s *librarySession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }
func (s *librarySession) GetClientInfo() mcp.Implementation                   { return mcp.Implementation{} }
func (s *librarySession) SetClientInfo(mcp.Implementation)                    {}
func (s *librarySession) GetClientCapabilities() mcp.ClientCapabilities {
	return s.request.Client.Capabilities
}
func (s *librarySession) SetClientCapabilities(mcp.ClientCapabilities) {}
func (s *librarySession) ProtocolVersion() string                      { return s.request.Client.Version }
func (s *librarySession) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return session.Ask[mcp.ElicitationResult](ctx, s.request, mcp.MethodElicitationCreate, s.request.Client.SupportsForms(), r.Params)
}
func (s *librarySession) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return session.Ask[mcp.CreateMessageResult](ctx, s.request, mcp.MethodSamplingCreateMessage, s.request.Client.SupportsSampling(), r.CreateMessageParams)
}
func (s *librarySession) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return session.Ask[mcp.ListRootsResult](ctx, s.request, mcp.MethodListRoots, s.request.Client.SupportsRoots(), nil)
}
