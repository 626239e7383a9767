package mcp_test

import "regexp"

var (
	runIDPattern      = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	callNumberPattern = regexp.MustCompile(`(RUN(?:\.\d+)?)@\d+`) // which call of a run it is
	statePattern      = regexp.MustCompile(`"requestState":"[^"]*"`)
)

// maskIDs replaces what differs between test runs.
func maskIDs(line string) string {
	line = callNumberPattern.ReplaceAllString(runIDPattern.ReplaceAllString(line, "RUN"), "$1")
	return statePattern.ReplaceAllString(line, `"requestState":"STATE"`)
}
