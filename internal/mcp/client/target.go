package client

import "log/slog"

// A Target says how to reach a server. Its strings may be secret, so a Target is formatted
// and logged as its name alone.
type Target struct {
	Name string
	Type string // [Stdio], [HTTP] or [SSE]

	// How to start a stdio server.
	Command string
	Args    []string
	Env     map[string]string // besides what the child inherits
	Cwd     string            // an absolute path, or "" for Beam's own

	// How to reach a server over HTTP.
	URL     string
	Headers map[string]string
}

// Transports of a [Target].
const (
	Stdio = "stdio"
	HTTP  = "http" // streamable HTTP; or HTTP+SSE, if the server knows nothing else
	SSE   = "sse"  // HTTP+SSE, of the protocol version 2024-11-05
)

// String returns the name of the server.
func (t Target) String() string { return t.Name }

// GoString returns the name of the server.
func (t Target) GoString() string { return "client.Target(" + t.Name + ")" }

// LogValue implements [slog.LogValuer].
func (t Target) LogValue() slog.Value { return slog.StringValue(t.Name) }
