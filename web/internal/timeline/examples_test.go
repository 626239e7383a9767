package timeline

import (
	"reflect"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
)

func TestEveryEntryChangesTheTimeline(t *testing.T) {
	runlogtest.CheckShown(t, map[runlog.Kind]string{
		runlog.KindClaimed: "that a run begins says its start",
	}, func(runlogtest.Example) func(runlog.Entry) bool {
		run := New("a")
		return func(e runlog.Entry) bool { return !reflect.DeepEqual(run.Apply(e), Change{Seq: e.Seq}) }
	})
}
