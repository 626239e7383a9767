package beamtest_test

import (
	"context"
	"strings"
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

// What a surface could show only in part fails the run, whether a question shows it or the
// photon yields it.
func TestMalformedArtifactsFailTheRun(t *testing.T) {
	cut := generators.TableOf("Payments", generators.Table{Columns: []string{"name"}, Rows: [][]any{{"Bob", 1_000_000}}})
	for name, run := range map[string]func(context.Context, generators.Yield) (bool, error){
		"shown": func(_ context.Context, yield generators.Yield) (bool, error) {
			return ask.Confirm(yield, "go", "Pay?", ask.Showing(cut))
		},
		"yielded": func(_ context.Context, yield generators.Yield) (bool, error) {
			yield(cut)
			return ask.Confirm(yield, "go", "Pay?")
		},
	} {
		script := beamtest.Script{"go": beamtest.Accept(true)}
		o := beamtest.Run(t, newPhoton(run), nil, script)
		if o.Err == nil || !strings.Contains(o.Err.Error(), `"Payments" can't be shown: row 1 has 2 values`) || len(o.Asked) > 0 {
			t.Errorf("%s: the run asked %q and ended with %v", name, o.Asked, o.Err)
		}
		if o := beamtest.Replay(t, newPhoton(run), nil, script); o.Err == nil {
			t.Errorf("%s: Replay accepts it", name)
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
