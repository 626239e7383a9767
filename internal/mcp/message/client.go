package message

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Client is what a client said about itself: the protocol version that it
// speaks, its capabilities, and the log messages that it wants. It is immutable.
type Client struct {
	Version      string
	Capabilities mcp.ClientCapabilities
	LogLevel     Severity
}

// IsModern reports whether the client speaks 2026-07-28 or later, which has no
// sessions.
func (c *Client) IsModern() bool { return mcp.IsModernProtocol(c.Version) }

// VersionAtLeast reports whether the client speaks that version or a later one.
// Versions are dates.
func (c *Client) VersionAtLeast(version string) bool { return c.Version >= version }

// SupportsForms reports whether the client shows forms. Elicitation without a
// mode means forms only (MCP 2025-11-25, Elicitation, Capabilities).
func (c *Client) SupportsForms() bool {
	e := c.Capabilities.Elicitation
	return c.VersionAtLeast(mcp.ProtocolVersion20250618) && e != nil && (e.Form != nil || e.URL == nil)
}

// SupportsURLs reports whether the client asks its user to open a URL.
func (c *Client) SupportsURLs() bool {
	e := c.Capabilities.Elicitation
	return c.VersionAtLeast(mcp.ProtocolVersion20251125) && e != nil && e.URL != nil
}

// The extension MCP Apps: its name, and the media type of its user interfaces.
const (
	UIExtension = "io.modelcontextprotocol/ui"
	UIMediaType = "text/html;profile=mcp-app"
)

// SupportsApps reports whether the client shows user interfaces in its chat (MCP Apps).
func (c *Client) SupportsApps() bool {
	ui, _ := c.Capabilities.Extensions[UIExtension].(map[string]any)
	types, _ := ui["mimeTypes"].([]any)
	return c.VersionAtLeast(mcp.ProtocolVersion20250618) && slices.Contains(types, any(UIMediaType))
}

// SupportsSampling reports whether the client asks a model.
func (c *Client) SupportsSampling() bool { return c.Capabilities.Sampling != nil }

// SupportsSamplingTools reports whether the client offers tools to its model.
func (c *Client) SupportsSamplingTools() bool {
	return c.VersionAtLeast(mcp.ProtocolVersion20251125) && c.SupportsSampling() && c.Capabilities.Sampling.Tools != nil
}

// SupportsRoots reports whether the client lists its roots.
func (c *Client) SupportsRoots() bool { return c.Capabilities.Roots != nil }

// A Severity orders log levels (RFC 5424), the most severe first. A client gets
// the messages of its own severity and of more severe ones.
type Severity int

// The severities that Beam names.
const (
	NoLogging     Severity = -1 // no log messages at all
	SeverityInfo  Severity = 6
	SeverityDebug Severity = 7
)

var severities = []string{"emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"}

// Level returns the log level of a severity other than NoLogging.
func (s Severity) Level() string { return severities[s] }

// ParseSeverity returns the severity of a log level.
func ParseSeverity(level string) (Severity, bool) {
	i := slices.Index(severities, level)
	return Severity(i), i >= 0
}

// wantsLog reports whether the client wants log messages of a level.
func (c *Client) wantsLog(level string) bool {
	s, ok := ParseSeverity(level)
	return ok && s <= c.LogLevel
}
