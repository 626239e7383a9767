package mcp

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/runlog"
)

// traceMeta is the trace that a request's _meta says it is a part of (MCP
// 2026-07-28, OpenTelemetry trace context; SEP-414). Clients of older versions
// say it in the same way.
type traceMeta struct {
	Parent  traceValue `json:"traceparent"`
	State   traceValue `json:"tracestate"`
	Baggage traceValue `json:"baggage"`
}

func (m traceMeta) logTrace() runlog.Trace {
	return runlog.Trace{Parent: string(m.Parent), State: string(m.State), Baggage: string(m.Baggage)}
}

// traceValue is a member of a trace context. One that is no string is as none: no
// request fails for a trace (W3C Trace Context, section 4.3).
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
