package mcp

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/runlog"
)

// traceMeta is the trace context in a request's _meta (MCP 2026-07-28, OpenTelemetry
// trace context; SEP-414). Clients of older versions use the same members.
type traceMeta struct {
	Parent  traceValue `json:"traceparent"`
	State   traceValue `json:"tracestate"`
	Baggage traceValue `json:"baggage"`
}

func (m traceMeta) logTrace() runlog.Trace {
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
