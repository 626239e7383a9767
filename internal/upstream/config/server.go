// Package config reads which MCP servers Beam uses as upstreams, from the files in
// which MCP clients keep them. It knows no MCP.
package config

import (
	"time"

	"github.com/photon-beam/beam/internal/mcp/client"
)

// A Server says how to reach an upstream, and what Beam lets it do. Its strings
// hold what references such as ${VAR} stand for, so they may be secret: a Server
// is formatted and logged as its name alone. See [CheckName] for names.
type Server struct {
	client.Target
	File string // the file that defines it

	Policy

	Ignored  []string // fields that Beam doesn't know, which clients have of their own
	Warnings []string // what the operator should know

	// Secrets are the values that references stood for. They must be masked
	// wherever the server's output is shown.
	Secrets []string
}

// Transports of a [Server].
const (
	Stdio = client.Stdio
	HTTP  = client.HTTP
	SSE   = client.SSE
)

// A Policy says what Beam lets an upstream do.
type Policy struct {
	Allow []string // patterns, see [Match]; the tools that are offered. Empty: all
	Deny  []string // likewise, those that aren't, even if Allow names them
	Roles []string // the roles of the callers who may use the tools. Empty: everybody

	Record    Record    // what the log keeps of a call
	Sensitive Sensitive // what happens to a form that asks for a password or the like
	Parallel  Parallel  // how calls that are made at once reach the server
	Limits    Limits
}

// Record says what the log of a run keeps of a call's arguments and result.
type Record string

// Values of [Record].
const (
	RecordAll      Record = "all"      // both, whole
	RecordMetadata Record = "metadata" // their sizes and digests
	RecordNothing  Record = "nothing"  // that the tool was called, and how the call ended
)

// Sensitive says what happens to an upstream's form with a field for a secret.
type Sensitive string

// Values of [Sensitive].
const (
	RefuseSensitive Sensitive = "refuse" // the upstream gets an error, nobody is asked
	WarnSensitive   Sensitive = "warn"   // the person is warned
	AllowSensitive  Sensitive = "allow"  // the person is asked as for anything else
)

// Parallel says how calls that are made at once reach a server that has sessions, for one
// owner and client session. It matters to servers that don't tell which call asks.
type Parallel string

// Values of [Parallel].
const (
	ParallelShared   Parallel = "shared"   // on one connection
	ParallelSeparate Parallel = "separate" // on a connection each: over stdio, in a process each
	ParallelNever    Parallel = "never"    // one after the other
)

// Limits bound what an upstream may do. Zero means no limit of this server's own.
type Limits struct {
	Calls          int           // calls at once
	CallsPerMinute int           // calls begun within a minute
	CallTimeout    time.Duration // how long a call may take while no question is open
	Asks           int           // open questions of one session at once
	Tools          int           // tools that are offered
}
