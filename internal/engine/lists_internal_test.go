package engine

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// A run may be deleted while its question is being listed: that is no error.
func TestListedRunIsDeleted(t *testing.T) {
	e, info := newWaitingRun(t, runlog.NewMemory())
	var logged strings.Builder
	e.logger = slog.New(slog.NewTextHandler(&logged, nil))
	me := generators.Caller{ID: "me"}
	for a, err := range e.openAsks(runlist.AskFilter{}, Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Cancel(t.Context(), me, info.ID, "browser"); err != nil {
			t.Fatal(err)
		}
		e.workers.Wait()
		if err := e.Delete(me, info.ID); err != nil {
			t.Fatal(err)
		}
		if _, open, err := e.listAsk(a, me); open || err != nil || logged.Len() > 0 {
			t.Errorf("the question of a run that was deleted is listed: %v; the log has %q", open, &logged)
		}
	}
}
