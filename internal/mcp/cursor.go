package mcp

import (
	"strconv"

	"github.com/photon-beam/beam/internal/runlog"
)

// parseCursor is the inverse of [call.cursor].
func parseCursor(cursor string) (key string, seq uint64, ok bool) {
	if id, found := cutZeroSeq(cursor); found {
		return id, 0, true
	}
	return runlog.SplitAskID(cursor) // cursors and ask ids have the same form
}

// cutZeroSeq removes ".0", which no ask id ends in.
func cutZeroSeq(cursor string) (string, bool) {
	n := len(cursor) - len(".0")
	if n <= 0 || cursor[n:] != ".0" {
		return "", false
	}
	return cursor[:n], true
}

// cursor returns the event id that a client resumes after.
func (c *call) cursor(seq uint64) string { return c.key() + "." + strconv.FormatUint(seq, 10) }

// key identifies the call in its session.
func (c *call) key() string { return c.runID + c.numberSuffix() }

// numberSuffix makes keys and ids unique among the calls of one run.
func (c *call) numberSuffix() string {
	if c.number == 0 {
		return ""
	}
	return "@" + strconv.FormatUint(uint64(c.number), 10)
}
