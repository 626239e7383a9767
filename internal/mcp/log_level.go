package mcp

import "slices"

// A severity is a log level (RFC 5424), the most severe first.
type severity int

const noLogging severity = -1

var severities = []string{"emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"}

func parseSeverity(level string) (severity, bool) {
	i := slices.Index(severities, level)
	return severity(i), i >= 0
}

// wantsLog reports whether the client receives log messages of a level.
func (c *client) wantsLog(level string) bool {
	s, ok := parseSeverity(level)
	return ok && s <= c.logLevel
}
