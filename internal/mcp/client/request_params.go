package client

import (
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/mcp/message"
)

// logLevel is the least severe level of the log messages that servers are asked for.
const logLevel = "info"

// requestParams returns the params of a request with what the protocol version and the
// call add to its _meta.
func (s *Session) requestParams(x *pendingRequest) json.RawMessage {
	meta := map[string]any{}
	if x.call != nil && !strings.HasPrefix(x.method, "tasks/") {
		meta["progressToken"] = x.id
	}
	s.mu.Lock() // a server may answer another request for its version
	version := s.server.Version
	s.mu.Unlock()
	if isModern(version) || x.method == string(mcp.MethodServerDiscover) {
		s.addModernMeta(x, meta)
	}
	if len(meta) == 0 {
		return x.params
	}
	params := x.params
	if params == nil {
		params = json.RawMessage("{}")
	}
	return message.WithMembers(params, meta, "_meta")
}

// addModernMeta adds what each request of 2026-07-28 says of its client.
func (s *Session) addModernMeta(x *pendingRequest, meta map[string]any) {
	meta[mcp.MetaKeyProtocolVersion] = modernVersion
	meta[mcp.MetaKeyClientInfo] = s.options.Info
	capabilities := s.options.Capabilities
	if x.call != nil && x.call.request.Capabilities != nil {
		capabilities = x.call.request.Capabilities
	}
	meta[mcp.MetaKeyClientCapabilities] = message.WithMembers(capabilities, map[string]any{tasksExtension: struct{}{}}, "extensions")
	if x.call != nil {
		meta[mcp.MetaKeyLogLevel] = logLevel
	}
}
