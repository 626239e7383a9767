package mcp_test

import "regexp"

var (
	runID   = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	stateID = regexp.MustCompile(`"requestState":"[^"]*"`)
)

// anonymous writes what differs from run to run in the same way.
func anonymous(line string) string {
	return stateID.ReplaceAllString(runID.ReplaceAllString(line, "RUN"), `"requestState":"STATE"`)
}
