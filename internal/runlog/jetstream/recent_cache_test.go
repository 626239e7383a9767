package jetstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// newPendingAppend returns an acknowledged message of one entry.
func newPendingAppend(run string, seq uint64, size int) *pendingAppend {
	e := runlog.Entry{Seq: seq, Kind: "status", Data: json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}
	return &pendingAppend{run: run, firstSeq: seq, tail: runTail{streamSeq: seq, lastSeq: seq}, payload: encodeMessage(run, seq-1, []runlog.Entry{e})}
}

func TestRecentCacheHoldsWholeRuns(t *testing.T) {
	var c recentCache
	for seq := range uint64(3) {
		c.add(newPendingAppend("whole", seq+1, 10))
	}
	c.add(newPendingAppend("old", 7, 10)) // its beginning was before
	c.add(newPendingAppend("torn", 1, 10))
	c.add(newPendingAppend("torn", 3, 10)) // another was appended that was not told
	c.add(newPendingAppend("large", 1, 10))
	c.add(newPendingAppend("large", 2, maxRecentRunBytes))
	all, ok := c.entriesAfter("whole", 1)
	if !ok || len(all) != 2 || all[0].Seq != 2 || all[1].Seq != 3 {
		t.Errorf("after entry 1: %v, %v", all, ok)
	}
	if end, ok := c.tailOf("whole"); !ok || end.lastSeq != 3 {
		t.Errorf("the end is %+v, %v", end, ok)
	}
	for _, run := range []string{"old", "torn", "large", "nobody's"} {
		if _, ok := c.entriesAfter(run, 0); ok {
			t.Errorf("the run %s is there, and not all of it", run)
		}
	}
	c.remove("whole")
	if _, ok := c.tailOf("whole"); ok {
		t.Error("a run that was forgotten is there")
	}
}

func TestRecentCacheIsBounded(t *testing.T) {
	var c recentCache
	for n := range 1000 {
		run := fmt.Sprint(n)
		c.add(newPendingAppend(run, 1, 50_000))
		c.add(newPendingAppend(run, 2, 50_000))
		if _, ok := c.entriesAfter(run, 0); !ok {
			t.Fatalf("run %d was forgotten at once", n)
		}
		held := 0
		for _, generation := range []map[string]*recentRun{c.newer, c.older} {
			for _, y := range generation {
				held += y.bytes
			}
		}
		if held > 2*maxGenerationBytes {
			t.Fatalf("after %d runs %d bytes are held, of %d", n, held, 2*maxGenerationBytes)
		}
	}
	if _, ok := c.entriesAfter("0", 0); ok {
		t.Error("the first of 1,000 runs is still cached")
	}
}
