package mcp_test

import "regexp"

var (
	runID   = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	turn    = regexp.MustCompile(`(RUN(?:\.\d+)?)@\d+`) // which call of a run it is
	stateID = regexp.MustCompile(`"requestState":"[^"]*"`)
)

// anonymous writes what differs from run to run in the same way.
func anonymous(line string) string {
	line = turn.ReplaceAllString(runID.ReplaceAllString(line, "RUN"), "$1")
	return stateID.ReplaceAllString(line, `"requestState":"STATE"`)
}
