package web_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

var errHole = fmt.Errorf("%w: entries 2 to 4 are missing", runlog.ErrCorrupt)

// A holedLog has a hole after the first batch of entries of each run.
type holedLog struct{ runlog.Log }

func (l holedLog) Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range l.Log.Follow(ctx, run, after) {
			if !yield(batch, err) || err != nil {
				return
			}
			yield(nil, errHole)
			return
		}
	}
}

// TestPageOfADamagedRunSaysSo checks that an open page shows what is wrong with its run's
// log, and doesn't connect again.
func TestPageOfADamagedRunSaysSo(t *testing.T) {
	p := newSiteOn(t, holedLog{runlog.NewMemory()}, "").newSession()
	run := p.startRun("wizard", "{}")
	page := readText(t, p.request("GET", run.Events, "", "Datastar-Request", "true"))
	if !strings.Contains(page, "This run’s log is damaged") || !strings.Contains(page, errHole.Error()) {
		t.Errorf("the page is told %s", page)
	}
	if !strings.Contains(page, `<div id="live"></div>`) { // lists may change after it
		t.Errorf("the page connects again: %s", page)
	}
}
