package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
)

// The protocol's versions that this server speaks, oldest first. The modern
// ones have no sessions: each request says everything about its client.
const (
	version20250326 = mcp.ProtocolVersion20250326
	version20250618 = mcp.ProtocolVersion20250618
	version20251125 = mcp.ProtocolVersion20251125
	version20260728 = mcp.ProtocolVersion20260728
)

var supportedVersions = []string{version20260728, version20251125, version20250618, version20250326}

// A client is who sends a request and what they said they can do. It is
// immutable.
type client struct {
	caller engine.Caller
	msg.Client
}

// requestMeta is what a request's params say beside what its method needs.
type requestMeta struct {
	ProgressToken json.RawMessage         `json:"progressToken"`
	Version       json.RawMessage         `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities  *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel      mcp.LoggingLevel        `json:"io.modelcontextprotocol/logLevel"`
	traceMeta
}

// requestParams are what requests have in common, and those of tools/call.
type requestParams struct {
	Meta         requestMeta                `json:"_meta"`
	Name         string                     `json:"name"`
	Arguments    json.RawMessage            `json:"arguments"`
	Responses    map[string]json.RawMessage `json:"inputResponses"`
	RequestState string                     `json:"requestState"`
	Task         json.RawMessage            `json:"task"` // of MCP 2025-11-25
}

// parseParams reads a request's params. What is wrong with a member, for methods
// that have such a one, is the error.
func parseParams(m message) (*requestParams, *rpcError) {
	var p requestParams
	if len(m.Params) == 0 {
		return &p, nil
	}
	var err error
	if m.Method == string(mcp.MethodToolsCall) {
		err = json.Unmarshal(m.Params, &p)
	} else {
		var only struct {
			Meta requestMeta `json:"_meta"`
		}
		err = json.Unmarshal(m.Params, &only)
		p.Meta = only.Meta
	}
	if err != nil {
		return &p, rpcErrorf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, msg.DescribeJSONError(err))
	}
	switch token := p.Meta.ProgressToken; {
	case bytes.Equal(token, jsonNull):
		p.Meta.ProgressToken = nil
	case token != nil && !msg.IsProgressToken(token):
		return &p, rpcErrorf(mcp.INVALID_PARAMS, "a progressToken is a string or a number of at most %d bytes", msg.MaxIDSize)
	}
	return &p, nil
}

// protocolVersion is the version that a request names itself; empty if it names none.
func (m *requestMeta) protocolVersion() string {
	if len(m.Version) == 0 {
		return ""
	}
	var v string
	_ = json.Unmarshal(m.Version, &v) // no string is no version
	return v
}

// newModernClient is the client of a request that names its own version (MCP
// 2026-07-28, Per-request protocol fields). Over HTTP its headers have to say
// the same as its body.
func (s *Server) newModernClient(caller engine.Caller, m message, p *requestParams, h http.Header) (*client, *rpcError) {
	version := p.Meta.protocolVersion()
	if version == "" {
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	if h != nil {
		if said := h.Get(mcp.HeaderProtocolVersion); said != version {
			return nil, rpcErrorf(mcp.HEADER_MISMATCH, "the header %s says %q and _meta says %q", mcp.HeaderProtocolVersion, said, version)
		}
	}
	if !slices.Contains(supportedVersions, version) {
		return nil, unsupportedVersionError(version)
	}
	if p.Meta.Capabilities == nil {
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "_meta lacks %s, an object; it may be empty", mcp.MetaKeyClientCapabilities)
	}
	if err := s.checkHeaders(version, m, p.Name, h); err != nil {
		return nil, rpcErrorf(mcp.HEADER_MISMATCH, "%v", err)
	}
	c := &client{caller, msg.Client{Version: version, Capabilities: *p.Meta.Capabilities, LogLevel: msg.NoLogging}}
	if p.Meta.LogLevel != "" {
		level, ok := msg.ParseSeverity(string(p.Meta.LogLevel))
		if !ok {
			return nil, rpcErrorf(mcp.INVALID_PARAMS, "%q is no log level: those are debug, info, notice, warning, error, critical, alert and emergency", p.Meta.LogLevel)
		}
		c.LogLevel = level
	}
	return c, nil
}

// checkHeaders holds the standard headers, and those that a tool asks for, against
// the body.
func (s *Server) checkHeaders(version string, m message, tool string, h http.Header) error {
	if h == nil {
		return nil
	}
	if err := mcp.ValidateStandardHeaders(h.Get, version, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return err
	}
	if named, err := checkTaskNameHeader(m, h); named {
		return err
	}
	if m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	t := s.library.GetTool(tool)
	if t == nil {
		return nil
	}
	return mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := h.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}, &t.Tool, m.Params)
}

func unsupportedVersionError(version string) *rpcError {
	e := rpcErrorf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "protocol version %q is not supported", version)
	e.Data = mcp.UnsupportedProtocolVersionData{Supported: supportedVersions, Requested: version}
	return e
}
