package jetstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/log"
)

// told makes a message of one entry, as the stream acknowledges it.
func told(run string, seq uint64, size int) *pending {
	e := log.Entry{Seq: seq, Kind: "status", Data: json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}
	return &pending{run: run, first: seq, tail: tail{seq: seq, last: seq}, payload: encode(run, seq-1, []log.Entry{e})}
}

func TestRecentHasRunsFromTheirBeginning(t *testing.T) {
	var c recent
	for seq := range uint64(3) {
		c.add(told("whole", seq+1, 10))
	}
	c.add(told("old", 7, 10)) // its beginning was before
	c.add(told("torn", 1, 10))
	c.add(told("torn", 3, 10)) // another was appended that was not told
	c.add(told("large", 1, 10))
	c.add(told("large", 2, youngBytes))
	all, ok := c.after("whole", 1)
	if !ok || len(all) != 2 || all[0].Seq != 2 || all[1].Seq != 3 {
		t.Errorf("after entry 1: %v, %v", all, ok)
	}
	if end, ok := c.tail("whole"); !ok || end.last != 3 {
		t.Errorf("the end is %+v, %v", end, ok)
	}
	for _, run := range []string{"old", "torn", "large", "nobody's"} {
		if _, ok := c.after(run, 0); ok {
			t.Errorf("the run %s is there, and not all of it", run)
		}
	}
	c.forget("whole")
	if _, ok := c.tail("whole"); ok {
		t.Error("a run that was forgotten is there")
	}
}

func TestRecentIsBounded(t *testing.T) {
	var c recent
	for n := range 1000 {
		run := fmt.Sprint(n)
		c.add(told(run, 1, 50_000))
		c.add(told(run, 2, 50_000))
		if _, ok := c.after(run, 0); !ok {
			t.Fatalf("run %d was forgotten at once", n)
		}
		held := 0
		for _, generation := range []map[string]*young{c.newer, c.older} {
			for _, y := range generation {
				held += y.bytes
			}
		}
		if held > 2*recentBytes {
			t.Fatalf("after %d runs %d bytes are held, of %d", n, held, 2*recentBytes)
		}
	}
	if _, ok := c.after("0", 0); ok {
		t.Error("the first of 1,000 runs is there still")
	}
}
