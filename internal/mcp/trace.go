package mcp

import (
	"encoding/json"

	"github.com/photon-beam/beam/internal/log"
)

// traceMeta is the trace that a request's _meta says it is a part of (MCP
// 2026-07-28, OpenTelemetry trace context; SEP-414). Clients of older versions
// say it in the same way.
type traceMeta struct {
	Parent  traceText `json:"traceparent"`
	State   traceText `json:"tracestate"`
	Baggage traceText `json:"baggage"`
}

func (m traceMeta) trace() log.Trace {
	return log.Trace{Parent: string(m.Parent), State: string(m.State), Baggage: string(m.Baggage)}
}

// traceText is a member of a trace context. One that is no string is as none: no
// request fails for a trace (W3C Trace Context, section 4.3).
type traceText string

var _ json.Unmarshaler = (*traceText)(nil)

// UnmarshalJSON implements [json.Unmarshaler].
func (t *traceText) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = traceText(s)
	}
	return nil
}
