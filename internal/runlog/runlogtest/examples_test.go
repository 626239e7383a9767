package runlogtest

import (
	"testing"

	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
)

// TestExamplesHaveEveryKind checks that there is an entry and an event of each kind, and that
// the answers to the questions are valid.
func TestExamplesHaveEveryKind(t *testing.T) {
	found := make(map[runlog.Kind]bool)
	for _, x := range Examples() {
		for _, e := range x.Entries {
			found[e.Kind] = true
		}
	}
	wanted := runlog.EntryKinds()
	for _, kind := range driver.Kinds() {
		if kind != "result" { // a log records it as the run's end
			wanted = append(wanted, runlog.Kind(kind))
		}
	}
	for _, kind := range wanted {
		if !found[kind] {
			t.Errorf("no example has an entry of the kind %s", kind)
		}
	}
	for _, q := range Questions() {
		if _, err := q.Check(answerTo(q)); err != nil {
			t.Errorf("the answer to a question of the kind %s: %v", q.Kind, err)
		}
	}
}
