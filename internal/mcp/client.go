package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/run"
)

// The protocol's versions that this server speaks, oldest first. The modern
// ones have no sessions: each request says everything about its client.
const (
	march2025    = mcp.ProtocolVersion20250326
	june2025     = mcp.ProtocolVersion20250618
	november2025 = mcp.ProtocolVersion20251125
	july2026     = mcp.ProtocolVersion20260728
)

var versions = []string{july2026, november2025, june2025, march2025}

// A client is who sends a request and what they said they can do. It is
// immutable.
type client struct {
	who     run.Caller
	version string
	caps    mcp.ClientCapabilities
	// least is the lowest level of the log messages that the client wants; see
	// severity. Nothing is sent if it is silent.
	least severity
}

func (c *client) modern() bool { return mcp.IsModernProtocol(c.version) }

// since tells whether the client speaks that version or a newer one. Versions
// are dates.
func (c *client) since(version string) bool { return c.version >= version }

// forms tells whether the client shows forms: elicitation without a mode means
// forms only (MCP 2025-11-25, Elicitation, Capabilities).
func (c *client) forms() bool {
	e := c.caps.Elicitation
	return c.since(june2025) && e != nil && (e.Form != nil || e.URL == nil)
}

func (c *client) urls() bool {
	e := c.caps.Elicitation
	return c.since(november2025) && e != nil && e.URL != nil
}

func (c *client) samples() bool { return c.caps.Sampling != nil }

func (c *client) samplesWithTools() bool {
	return c.since(november2025) && c.caps.Sampling != nil && c.caps.Sampling.Tools != nil
}

func (c *client) roots() bool { return c.caps.Roots != nil }

// meta is what a request's params say beside what its method needs.
type meta struct {
	ProgressToken json.RawMessage         `json:"progressToken"`
	Version       json.RawMessage         `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities  *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel      mcp.LoggingLevel        `json:"io.modelcontextprotocol/logLevel"`
	traceMeta
}

// params are what requests have in common, and those of tools/call.
type params struct {
	Meta         meta                       `json:"_meta"`
	Name         string                     `json:"name"`
	Arguments    json.RawMessage            `json:"arguments"`
	Responses    map[string]json.RawMessage `json:"inputResponses"`
	RequestState string                     `json:"requestState"`
	Task         json.RawMessage            `json:"task"` // of MCP 2025-11-25
}

// paramsOf reads a request's params. What is wrong with a member, for methods
// that have such a one, is the error.
func paramsOf(m message) (*params, *rpcError) {
	var p params
	if len(m.Params) == 0 {
		return &p, nil
	}
	var err error
	if m.Method == string(mcp.MethodToolsCall) {
		err = json.Unmarshal(m.Params, &p)
	} else {
		var only struct {
			Meta meta `json:"_meta"`
		}
		err = json.Unmarshal(m.Params, &only)
		p.Meta = only.Meta
	}
	if err != nil {
		return &p, faultf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, jsonFault(err))
	}
	switch token := p.Meta.ProgressToken; {
	case bytes.Equal(token, null):
		p.Meta.ProgressToken = nil
	case token != nil && !isToken(token):
		return &p, faultf(mcp.INVALID_PARAMS, "a progressToken is a string or a number of at most %d bytes", maxID)
	}
	return &p, nil
}

// isToken tells whether raw is a progress token: a string or a number.
func isToken(raw json.RawMessage) bool {
	return len(raw) <= maxID && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// version is the version that a request names itself; empty if it names none.
func (m *meta) version() string {
	if len(m.Version) == 0 {
		return ""
	}
	var v string
	_ = json.Unmarshal(m.Version, &v) // no string is no version
	return v
}

// modernClient is the client of a request that names its own version (MCP
// 2026-07-28, Per-request protocol fields). Over HTTP its headers have to say
// the same as its body.
func (s *Server) modernClient(who run.Caller, m message, p *params, h http.Header) (*client, *rpcError) {
	version := p.Meta.version()
	if version == "" {
		return nil, faultf(mcp.INVALID_PARAMS, "_meta lacks %s", mcp.MetaKeyProtocolVersion)
	}
	if h != nil {
		if said := h.Get(mcp.HeaderProtocolVersion); said != version {
			return nil, faultf(mcp.HEADER_MISMATCH, "the header %s says %q and _meta says %q", mcp.HeaderProtocolVersion, said, version)
		}
	}
	if !slices.Contains(versions, version) {
		return nil, unsupportedVersion(version)
	}
	if p.Meta.Capabilities == nil {
		return nil, faultf(mcp.INVALID_PARAMS, "_meta lacks %s, an object; it may be empty", mcp.MetaKeyClientCapabilities)
	}
	if err := s.mirrored(version, m, p.Name, h); err != nil {
		return nil, faultf(mcp.HEADER_MISMATCH, "%v", err)
	}
	c := &client{who: who, version: version, caps: *p.Meta.Capabilities, least: silent}
	if p.Meta.LogLevel != "" {
		level, ok := severityOf(string(p.Meta.LogLevel))
		if !ok {
			return nil, faultf(mcp.INVALID_PARAMS, "%q is no log level: those are debug, info, notice, warning, error, critical, alert and emergency", p.Meta.LogLevel)
		}
		c.least = level
	}
	return c, nil
}

// mirrored holds the standard headers, and those that a tool asks for, against
// the body.
func (s *Server) mirrored(version string, m message, tool string, h http.Header) error {
	if h == nil {
		return nil
	}
	if err := mcp.ValidateStandardHeaders(h.Get, version, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return err
	}
	if named, err := taskNamed(m, h); named {
		return err
	}
	if m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	t := s.lib.GetTool(tool)
	if t == nil {
		return nil
	}
	return mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := h.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}, &t.Tool, m.Params)
}

func unsupportedVersion(version string) *rpcError {
	e := faultf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "protocol version %q is not supported", version)
	e.Data = mcp.UnsupportedProtocolVersionData{Supported: versions, Requested: version}
	return e
}

// severity orders log levels (RFC 5424), the gravest first.
type severity int

const silent severity = -1

var severities = []string{"emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"}

func severityOf(level string) (severity, bool) {
	i := slices.Index(severities, level)
	return severity(i), i >= 0
}

// wants tells whether the client wants messages of a level.
func (c *client) wants(level string) bool {
	s, ok := severityOf(level)
	return ok && s <= c.least
}
