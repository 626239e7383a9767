package mcp

import (
	"encoding/json"
	"log/slog"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/mcp/calls"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// A greeter tells clients what the server is and can, and learns the same of them.
type greeter struct {
	library library
	chat    *calls.Chat
	server  mcp.Implementation
	logger  *slog.Logger
}

// serverCapabilities are what the server declares to a client.
type serverCapabilities struct {
	mcp.ServerCapabilities
	Tasks map[string]any `json:"tasks,omitempty"` // instead of mcp-go's
}

// describe returns the capabilities that the server declares to a client, and what else
// it says of itself.
func (g *greeter) describe(sess *session.Session, c *requests.Client) (serverCapabilities, mcp.DiscoverResult) {
	described := g.library.describe()
	declared := serverCapabilities{ServerCapabilities: described.Capabilities}
	extensions := maps.Clone(declared.Extensions)
	if extensions == nil {
		extensions = map[string]any{}
	}
	switch {
	case c.IsModern():
		extensions[tasks.Extension] = struct{}{}
	case c.Version == mcp.ProtocolVersion20251125:
		declared.Tasks = tasks.Capability(sess.Identified)
	}
	if g.chat.IsUsedBy(sess, c) {
		maps.Copy(extensions, apps.Capability())
	}
	declared.Extensions = extensions
	return declared, described
}

// initialize serves initialize (MCP, Lifecycle). It agrees on a version before 2026-07-28,
// in which the request is gone.
func (g *greeter) initialize(r *session.Request) requests.Reply {
	var p mcp.InitializeParams
	if err := json.Unmarshal(r.Message.Params, &p); err != nil {
		return r.Error(msg.Errorf(mcp.INVALID_REQUEST, "the params of initialize have the wrong shape: %s", msg.DescribeJSONError(err)))
	}
	version := mcp.NegotiateLegacyVersion(p.ProtocolVersion)
	r.Session.UpdateClient(func(c *requests.Client) {
		c.Name = requests.ClientInfo{Name: p.ClientInfo.Name, Title: p.ClientInfo.Title}.String()
		c.Capabilities, c.Version = p.Capabilities, version
	})
	client := r.Session.Client()
	if g.chat.IsKeptFrom(r.Session, client) {
		g.logger.Warn("questions are not asked in this client's chat, because runs are kept in memory and the client may start another process for the chat: use a data folder instead of --memory")
	}
	declared, described := g.describe(r.Session, client)
	self := g.server
	if named := described.Meta.ServerInfo(); named != nil {
		self = *named // to which the program may have added
	}
	return r.Result(struct {
		Version      string             `json:"protocolVersion"`
		Capabilities serverCapabilities `json:"capabilities"`
		Server       mcp.Implementation `json:"serverInfo"`
		Instructions string             `json:"instructions,omitempty"`
	}{version, declared, self, described.Instructions})
}

// discover serves server/discover.
func (g *greeter) discover(r *session.Request) requests.Reply {
	declared, described := g.describe(r.Session, r.Client)
	members := map[string]any{"supportedVersions": requests.SupportedVersions, "capabilities": declared}
	if described.Instructions != "" {
		members["instructions"] = described.Instructions
	}
	return r.Result(newCacheableResult(r, g.server, members))
}

// ping serves ping.
func ping(r *session.Request) requests.Reply { return r.Result(struct{}{}) }

// setLogLevel serves logging/setLevel.
func setLogLevel(r *session.Request) requests.Reply {
	var p struct {
		Level string `json:"level"`
	}
	if err := json.Unmarshal(r.Message.Params, &p); err != nil {
		return r.Error(msg.Errorf(mcp.INVALID_REQUEST, "the params of logging/setLevel have the wrong shape: %s", msg.DescribeJSONError(err)))
	}
	level, ok := msg.ParseSeverity(p.Level)
	if !ok {
		return r.Error(unknownLogLevelError(p.Level))
	}
	if err := r.Session.SetLogLevel(level); err != nil {
		return r.Error(errUnavailable)
	}
	return r.Result(struct{}{})
}

func unknownLogLevelError(level string) *msg.Error {
	return msg.Errorf(mcp.INVALID_PARAMS, "%q is not a log level: use debug, info, notice, warning, error, critical, alert or emergency", level)
}
