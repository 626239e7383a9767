package mcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// configureLibrary has configure add to mcp-go's server.
func (s *Server) configureLibrary(configure func(*server.MCPServer)) error {
	if configure != nil {
		configure(s.library)
		for name := range s.library.ListTools() {
			return fmt.Errorf("the tool %q can't be added to mcp-go's server: make it a photon", name)
		}
		if s.serverCapabilities().Prompts != nil {
			server.WithPromptCapabilities(true)(s.library) // adding a prompt doesn't declare list changes
		}
	}
	return nil
}

// watchLibrary passes the changes that mcp-go announces from now on to the clients that
// want them.
func (s *Server) watchLibrary() error {
	sink := &changeSink{notifications: make(chan mcp.JSONRPCNotification, maxQueuedChanges)}
	if err := s.library.RegisterSession(s.closed, sink); err != nil {
		return err
	}
	go s.forwardChanges(sink)
	return nil
}

// maxQueuedChanges is the number of changes that may wait to be forwarded, which takes
// some microseconds each.
const maxQueuedChanges = 4096

// A changeSink is a session that mcp-go knows, instead of the clients' own: it receives
// what mcp-go announces to all clients. mcp-go drops what a session doesn't receive at
// once, and clients may be slow.
type changeSink struct {
	notifications chan mcp.JSONRPCNotification
}

var _ server.ClientSession = (*changeSink)(nil)

// SessionID implements [server.ClientSession].
func (c *changeSink) SessionID() string { return "changes" }

// Initialize implements [server.ClientSession].
func (c *changeSink) Initialize() {}

// Initialized implements [server.ClientSession].
func (c *changeSink) Initialized() bool { return true }

// NotificationChannel implements [server.ClientSession].
func (c *changeSink) NotificationChannel() chan<- mcp.JSONRPCNotification { return c.notifications }

// forwardChanges reports the changes that mcp-go announces until the server is closed.
func (s *Server) forwardChanges(sink *changeSink) {
	defer s.library.UnregisterSession(context.WithoutCancel(s.closed), sink.SessionID())
	for {
		select {
		case <-s.closed.Done():
			return
		case n := <-sink.notifications:
			s.reportChange(n)
		}
	}
}

func (s *Server) reportChange(n mcp.JSONRPCNotification) {
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged:
		s.changes.Report(n.Method, "")
	case mcp.MethodNotificationResourceUpdated:
		if uri, ok := n.Params.AdditionalFields["uri"].(string); ok && uri != "" {
			s.changes.Report(n.Method, uri)
		}
	default:
		s.logger.Warn("clients are not notified: only changes of lists and resources can be announced to all", "method", n.Method)
	}
}
