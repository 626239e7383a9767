package ui

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/web/internal/timeline"
)

// Each entry changes a page that is open, and one that is loaded anew.
func TestEveryEntryChangesThePage(t *testing.T) {
	withFrozenClock(t, func(t *testing.T) {
		runlogtest.CheckShown(t, map[runlog.Kind]string{
			runlog.KindClaimed: "that a run begins says its start",
		}, func(runlogtest.Example) func(runlog.Entry) bool {
			run := timeline.New(runID)
			before := ""
			return func(e runlog.Entry) bool {
				patches := RunPatches(run, []timeline.Change{run.Apply(e)})
				page := renderPatches(t, ResyncPatches(run))
				changed := page != before
				before = page
				if shown := len(patches) > 0; shown != changed {
					t.Errorf("entry %d (%s): shown on a page that is open: %v; on one that is loaded: %v", e.Seq, e.Kind, shown, changed)
				}
				return changed
			}
		})
	})
}

func renderPatches(t *testing.T, patches []Patch) string {
	t.Helper()
	var all strings.Builder
	for _, p := range patches {
		if p.Component != nil {
			all.WriteString(renderHTML(t, p.Component))
		}
	}
	return all.String()
}
