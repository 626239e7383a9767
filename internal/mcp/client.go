package mcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/tasks"
)

// The protocol versions that this server supports, oldest first. From 2026-07-28 on, which
// the code calls modern, there are no sessions: each request describes its client.
const (
	version20250326 = mcp.ProtocolVersion20250326
	version20250618 = mcp.ProtocolVersion20250618
	version20251125 = mcp.ProtocolVersion20251125
	version20260728 = mcp.ProtocolVersion20260728
)

var supportedVersions = []string{version20260728, version20251125, version20250618, version20250326}

// A client is what a request's sender is and supports. It is immutable.
type client struct {
	caller generators.Caller
	msg.Client
	name string // what the client calls itself; anything
}

// newModernClient returns the client of a request that names its own version (MCP
// 2026-07-28, Per-request protocol fields). Over HTTP, the headers must agree with the
// body.
func (s *Server) newModernClient(caller generators.Caller, m msg.Incoming, p *requestParams, h http.Header) (*client, *msg.Error) {
	version := p.Meta.protocolVersion()
	if version == "" {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "_meta has no %s", mcp.MetaKeyProtocolVersion)
	}
	if h != nil {
		if header := h.Get(mcp.HeaderProtocolVersion); header != version {
			return nil, msg.Errorf(mcp.HEADER_MISMATCH, "the header %s is %q but _meta has %q", mcp.HeaderProtocolVersion, header, version)
		}
	}
	if !slices.Contains(supportedVersions, version) {
		return nil, unsupportedVersionError(version)
	}
	if p.Meta.Capabilities == nil {
		return nil, msg.Errorf(mcp.INVALID_PARAMS, "_meta lacks %s, an object; it may be empty", mcp.MetaKeyClientCapabilities)
	}
	if err := s.checkHeaders(caller, version, m, p.Name, h); err != nil {
		return nil, msg.Errorf(mcp.HEADER_MISMATCH, "%v", err)
	}
	c := &client{caller: caller, Client: msg.Client{Version: version, Capabilities: *p.Meta.Capabilities, LogLevel: msg.NoLogging}, name: p.Meta.ClientInfo.name()}
	if p.Meta.LogLevel != "" {
		level, ok := msg.ParseSeverity(string(p.Meta.LogLevel))
		if !ok {
			return nil, msg.Errorf(mcp.INVALID_PARAMS, "%q is not a log level: use debug, info, notice, warning, error, critical, alert or emergency", p.Meta.LogLevel)
		}
		c.LogLevel = level
	}
	return c, nil
}

// checkHeaders compares the standard headers, and those that the schema of a tool that
// the caller may use requires, with the body.
func (s *Server) checkHeaders(caller generators.Caller, version string, m msg.Incoming, tool string, h http.Header) error {
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
	t := s.library.GetTool(tool)
	if t == nil || !s.offersTool(caller, tool) {
		return nil
	}
	return mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := h.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}, &t.Tool, m.Params)
}

func unsupportedVersionError(version string) *msg.Error {
	e := msg.Errorf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "protocol version %q is not supported", version)
	e.Data = mcp.UnsupportedProtocolVersionData{Supported: supportedVersions, Requested: version}
	return e
}
