package beamtest_test

import (
	"context"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// A confirmation of something that can't be undone must show what it is about, or say
// that it has nothing to show.
func TestDestructiveConfirmationsMustShowSomething(t *testing.T) {
	const unshown = `photon photon confirms "go", which can't be undone, and shows nothing: add ask.Showing with what the person decides by, or ask.Showing() if the message says it all`
	for name, tt := range map[string]struct {
		want    string
		options []ask.Option
	}{
		"nothing":             {unshown, []ask.Option{ask.Destructive()}},
		"code":                {"", []ask.Option{ask.Destructive(), ask.Showing(generators.Code("001.sql", "sql", "DROP TABLE a;"))}},
		"nothing, explicitly": {"", []ask.Option{ask.Destructive(), ask.Showing()}},
		"nothing to undo":     {"", nil},
	} {
		photon := newPhoton(func(_ context.Context, yield generators.Yield) (bool, error) {
			return ask.Confirm(yield, "go", "Go?", tt.options...)
		})
		script := beamtest.Script{"go": beamtest.Accept(true)}
		if got := failures(t, func(t testing.TB) { beamtest.Run(t, photon, nil, script) }); got != tt.want {
			t.Errorf("if it shows %s, Run reports %q", name, got)
		}
		if got := failures(t, func(t testing.TB) { beamtest.Replay(t, photon, nil, script) }); got != tt.want {
			t.Errorf("if it shows %s, Replay reports %q", name, got)
		}
	}
}

// Replay finds a question that shows something else after a crash.
func TestReplayComparesWhatIsShown(t *testing.T) {
	runs := 0
	photon := newPhoton(func(_ context.Context, yield generators.Yield) (bool, error) {
		runs++
		return ask.Confirm(yield, "go", "Go?", ask.Showing(generators.JSON("run", runs)))
	})
	got := failures(t, func(t testing.TB) { beamtest.Replay(t, photon, nil, beamtest.Script{"go": beamtest.Accept(true)}) })
	if got == "" {
		t.Error("Replay reports nothing")
	}
	t.Log(got)
}
