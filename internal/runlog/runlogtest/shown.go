package runlogtest

import (
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// CheckShown fails the test for each entry of the examples that a surface doesn't show. Hidden has
// the kinds of which it need not show every entry, and why. Begin begins a run, and returns a
// function that shows the run's next entry and reports whether people can see that.
func CheckShown(t *testing.T, hidden map[runlog.Kind]string, begin func(Example) (show func(runlog.Entry) bool)) {
	t.Helper()
	was := make(map[runlog.Kind]bool)
	for _, x := range Examples() {
		show := begin(x)
		for _, e := range x.Entries {
			if show(e) {
				continue
			}
			was[e.Kind] = true
			if hidden[e.Kind] == "" {
				t.Errorf("%s: entry %d (%s) is not shown: %s", x.Name, e.Seq, e.Kind, e.Data)
			}
		}
	}
	for kind := range hidden {
		if !was[kind] {
			t.Errorf("each entry of the kind %s is shown: it need not be among those that are hidden", kind)
		}
	}
}
