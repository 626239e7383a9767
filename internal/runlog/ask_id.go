package runlog

import (
	"strconv"
	"strings"
)

// AskID returns the id of a question: the run's id, a dot, and the ordinal of the
// question's entry.
func AskID(run string, seq uint64) string { return run + "." + strconv.FormatUint(seq, 10) }

// SplitAskID splits an id that [AskID] returned. It reports whether the id is
// valid; an ordinal with leading zeros isn't.
func SplitAskID(id string) (run string, seq uint64, ok bool) {
	run, ordinal, found := strings.Cut(id, ".")
	seq, err := strconv.ParseUint(ordinal, 10, 64)
	return run, seq, found && err == nil && run != "" && seq > 0 && strconv.FormatUint(seq, 10) == ordinal
}
