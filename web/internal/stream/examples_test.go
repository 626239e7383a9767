package stream

import (
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/web/internal/timeline"
	"github.com/photon-beam/beam/web/internal/ui"
)

func TestEveryEntryPatchesThePage(t *testing.T) {
	runlogtest.CheckShown(t, map[runlog.Kind]string{
		runlog.KindClaimed: "that a run begins says its start",
	}, func(x runlogtest.Example) func(runlog.Entry) bool {
		render := &patchRenderer{ctx: t.Context(), run: timeline.New("a"), framePatches: func() []ui.Patch { return nil }}
		return func(e runlog.Entry) bool {
			messages, err := render.Render([]runlog.Entry{e})
			if err != nil {
				t.Errorf("%s: entry %d: %v", x.Name, e.Seq, err)
			}
			return len(messages) > 1 // the last says only that the page has all before
		}
	})
}
