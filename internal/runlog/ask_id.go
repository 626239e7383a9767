package runlog

import (
	"strconv"
	"strings"
)

// AskID names a question everywhere: its run's id, a dot, and the ordinal of
// its entry in the run's log.
func AskID(run string, seq uint64) string { return run + "." + strconv.FormatUint(seq, 10) }

// SplitAskID is the inverse of [AskID]. An ask has one id: no other spelling of
// its ordinal is taken for it.
func SplitAskID(id string) (run string, seq uint64, ok bool) {
	run, ordinal, found := strings.Cut(id, ".")
	seq, err := strconv.ParseUint(ordinal, 10, 64)
	return run, seq, found && err == nil && run != "" && seq > 0 && strconv.FormatUint(seq, 10) == ordinal
}
