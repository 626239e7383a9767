package requests

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// Meta is the _meta of a request's params.
type Meta struct {
	ProgressToken json.RawMessage         `json:"progressToken"`
	Version       json.RawMessage         `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities  *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel      mcp.LoggingLevel        `json:"io.modelcontextprotocol/logLevel"`
	ClientInfo    ClientInfo              `json:"io.modelcontextprotocol/clientInfo"`
	traceMeta
}

// Params are the params that all requests have, and those of tools/call.
type Params struct {
	Meta         Meta                       `json:"_meta"`
	Name         string                     `json:"name"`
	Arguments    json.RawMessage            `json:"arguments"`
	Responses    map[string]json.RawMessage `json:"inputResponses"`
	RequestState string                     `json:"requestState"`
	Task         json.RawMessage            `json:"task"` // MCP 2025-11-25
}

// ClientInfo is what a client says about itself. It fails no request.
type ClientInfo struct{ Name, Title string }

var _ json.Unmarshaler = (*ClientInfo)(nil)

// UnmarshalJSON implements [json.Unmarshaler].
func (i *ClientInfo) UnmarshalJSON(raw []byte) error {
	var info struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	}
	if json.Unmarshal(raw, &info) == nil {
		i.Name, i.Title = info.Name, info.Title
	}
	return nil
}

// String returns what people call the client.
func (i ClientInfo) String() string { return cmp.Or(i.Title, i.Name) }

// takesInput reports whether a request may be answered with questions, and repeated with
// the answers (MCP 2026-07-28, Multi Round-Trip Requests).
func takesInput(method string) bool {
	switch method {
	case string(mcp.MethodToolsCall), string(mcp.MethodResourcesRead), string(mcp.MethodPromptsGet):
		return true
	}
	return false
}

// ParseParams decodes a request's params. It decodes only members that the request's
// method has, and returns an error if one is malformed.
func ParseParams(m msg.Incoming) (*Params, *msg.Error) {
	var p Params
	if len(m.Params) == 0 {
		return &p, nil
	}
	var err error
	if takesInput(m.Method) {
		err = json.Unmarshal(m.Params, &p)
	} else {
		var only struct {
			Meta Meta `json:"_meta"`
		}
		err = json.Unmarshal(m.Params, &only)
		p.Meta = only.Meta
	}
	if err != nil {
		return &p, msg.Errorf(mcp.INVALID_PARAMS, "the params of %s have the wrong shape: %s", m.Method, msg.DescribeJSONError(err))
	}
	switch token := p.Meta.ProgressToken; {
	case bytes.Equal(token, msg.Null):
		p.Meta.ProgressToken = nil
	case token != nil && !msg.IsProgressToken(token):
		return &p, msg.Errorf(mcp.INVALID_PARAMS, "a progressToken is a string or a number of at most %d bytes", msg.MaxIDSize)
	}
	return &p, nil
}

// ProtocolVersion returns the version that a request names, or "" if it names none.
func (m *Meta) ProtocolVersion() string {
	if len(m.Version) == 0 {
		return ""
	}
	var v string
	_ = json.Unmarshal(m.Version, &v) // anything but a string counts as none
	return v
}

// traceMeta is the trace context in a request's _meta (MCP 2026-07-28, OpenTelemetry
// trace context; SEP-414). Clients of older versions use the same members.
type traceMeta struct {
	Parent  traceValue `json:"traceparent"`
	State   traceValue `json:"tracestate"`
	Baggage traceValue `json:"baggage"`
}

func (m traceMeta) LogTrace() runlog.Trace {
	return runlog.Trace{Parent: string(m.Parent), State: string(m.State), Baggage: string(m.Baggage)}
}

// A traceValue is a member of a trace context. A value that is not a string is ignored:
// no request fails because of its trace (W3C Trace Context, section 4.3).
type traceValue string

var _ json.Unmarshaler = (*traceValue)(nil)

// UnmarshalJSON implements [json.Unmarshaler].
func (t *traceValue) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = traceValue(s)
	}
	return nil
}
