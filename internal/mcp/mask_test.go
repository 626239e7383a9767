package mcp_test

import "regexp"

var (
	runIDPattern      = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	callNumberPattern = regexp.MustCompile(`(RUN(?:\.\d+)?)@\d+`) // which call of a run it is
	statePattern      = regexp.MustCompile(`"requestState":"[^"]*"`)
)

// maskIDs writes what differs from run to run in the same way.
func maskIDs(line string) string {
	line = callNumberPattern.ReplaceAllString(runIDPattern.ReplaceAllString(line, "RUN"), "$1")
	return statePattern.ReplaceAllString(line, `"requestState":"STATE"`)
}
