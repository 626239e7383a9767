package requests

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
)

// SupportedVersions are the protocol versions that this server supports, newest first.
// From 2026-07-28 on, which the code calls modern, there are no sessions: each request
// describes its client.
var SupportedVersions = []string{mcp.ProtocolVersion20260728, mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618, mcp.ProtocolVersion20250326}

// IsSupported reports whether this server supports a protocol version.
func IsSupported(version string) bool { return slices.Contains(SupportedVersions, version) }

// A Client is what a request's sender is and supports. It is immutable.
type Client struct {
	msg.Client
	Caller generators.Caller
	Name   string // what the client calls itself; anything
}

// Observe returns a message of the client as the engine records it.
func (c *Client) Observe(way recording.Direction, raw []byte) recording.Observed {
	return recording.Observed{Side: recording.Client, Peer: c.Name, Direction: way, Data: raw}
}
