package appview

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/web/internal/timeline"
)

func TestEveryEntryChangesTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runlogtest.CheckShown(t, map[runlog.Kind]string{
			runlog.KindStarted: "the chat shows the call that started the run",
			runlog.KindClaimed: "that a run begins says its start",
			runlog.KindStepped: "a step is for who writes the tool",
			"log":              "so are lines that help to find errors",
			"later":            "and events that this version doesn't know",
		}, func(x runlogtest.Example) func(runlog.Entry) bool {
			run := timeline.New("a")
			before := &apps.Snapshot{Label: "running"}
			return func(e runlog.Entry) bool {
				changed := make(changedItems)
				changed.add(run.Apply(e), e.Seq-1)
				s, err := snapshot(t.Context(), run, changed, apps.Reading{Run: "a", After: e.Seq - 1})
				if err != nil {
					t.Fatalf("%s: entry %d: %v", x.Name, e.Seq, err)
				}
				shown := len(s.Rows) > 0 || s.Label != before.Label || s.Progress != before.Progress || len(s.Questions) != len(before.Questions) ||
					slices.ContainsFunc(s.Questions, func(q apps.Question) bool { return q.HTML != "" })
				before = s
				return shown
			}
		})
	})
}
