package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// A run whose stored entries are damaged is still there after a restart, and says so; one
// that can't continue without them ends, and says which it is.
func TestDamagedEntriesAfterRestart(t *testing.T) {
	o := testOptions(t,
		newPhoton("talk", func(_ context.Context, yield generators.Yield) (string, error) {
			return strings.Repeat("result ", 100_000), nil
		}, nil),
		newPhoton("work", func(_ context.Context, yield generators.Yield) (string, error) {
			text, err := generators.Step(yield, "make", func(context.Context) (string, error) { return strings.Repeat("made ", 100_000), nil })
			if err != nil {
				return "", err
			}
			_, err = ask.Confirm(yield, "go", "Now?")
			return text, err
		}, &generators.Options{Durable: true}))
	dir := t.TempDir()
	blobs, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	o.Blobs = blobs
	first := openTestEngine(t, o)
	talk, work := first.startRun("talk", "{}"), first.startRun("work", "{}")
	first.waitForEnd(talk)
	first.waitForAsk(work, 0)
	first.closeNow()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Truncate(file, 1000); err != nil {
			t.Fatal(err)
		}
	}
	second := openTestEngine(t, o)
	if end := second.waitForEnd(talk); end.Status != runlog.Failed || !strings.Contains(end.Error, "(finished) of run "+talk+" is damaged") {
		t.Errorf("the end is %+v", end)
	}
	id, _ := second.waitForAsk(work, 0)
	second.acceptAsk(id, `{"go":true}`)
	if end := second.waitForEnd(work); end.Status != runlog.Interrupted || !strings.Contains(end.Error, "(stepped) of run "+work+" is damaged") {
		t.Errorf("the end is %+v", end)
	}
}

// A run whose question is damaged ends after a restart, and says why.
func TestDamagedQuestionAfterRestart(t *testing.T) {
	o := testOptions(t, newPhoton("quiz", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "who", "Who wrote this?", ask.Showing(generators.Markdown("Book", strings.Repeat("word ", 100_000))))
	}, &generators.Options{Durable: true}))
	dir := t.TempDir()
	blobs, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	o.Blobs = blobs
	first := openTestEngine(t, o)
	run := first.startRun("quiz", "{}")
	first.waitForAsk(run, 0)
	first.closeNow()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(files[0], 1000); err != nil {
		t.Fatal(err)
	}
	second := openTestEngine(t, o)
	if end := second.waitForEnd(run); end.Status != runlog.Interrupted || !strings.Contains(end.Error, "(asked) of run "+run+" is damaged") {
		t.Errorf("the end is %+v", end)
	}
}

// A run whose start is damaged is still listed after a restart, as the operator's, until
// somebody adopts it, and ends with the name of what is damaged. Other runs go on.
func TestDamagedStartAfterRestart(t *testing.T) {
	o := testOptions(t, generators.New("quiz", func(_ context.Context, in struct{ Text string }, yield generators.Yield) (string, error) {
		return ask.Text(yield, "who", "Who wrote this?")
	}, &generators.Options{Durable: true}))
	dir := t.TempDir()
	blobs, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	o.Blobs = blobs
	first := openTestEngine(t, o)
	large := `{"Text":"` + strings.Repeat("word ", 100_000) + `"}`
	asking, adopted, ended, other := first.startRun("quiz", large), first.startRun("quiz", large), first.startRun("quiz", large), first.startRun("quiz", `{"Text":"short"}`)
	for _, run := range []string{asking, adopted, ended, other} {
		first.waitForAsk(run, 0)
	}
	if err := first.Cancel(t.Context(), me, ended, "browser"); err != nil {
		t.Fatal(err)
	}
	if err := first.Adopt(t.Context(), generators.Caller{ID: "dev", Roles: []string{generators.RoleOperator}}, adopted); err != nil {
		t.Fatal(err)
	}
	first.closeNow()
	for _, run := range []string{asking, adopted, ended} {
		files, err := filepath.Glob(filepath.Join(dir, run, "*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if err := os.Truncate(files[0], 1000); err != nil {
			t.Fatal(err)
		}
	}
	second := openTestEngine(t, o)
	operator := callers.Operator()
	for run, want := range map[string]struct {
		state engine.State
		owner string
	}{asking: {engine.Interrupted, operator.ID}, adopted: {engine.Interrupted, "dev"}, ended: {engine.Stopped, operator.ID}} {
		info, err := second.Info(generators.Caller{ID: want.owner}, run)
		damage := "entry 1 (started) of run " + run + " is damaged"
		if err != nil || info.State != want.state || info.State == engine.Interrupted && !strings.Contains(info.Error, damage) {
			t.Errorf("the run is %+v, %v", info, err)
		}
		if _, err := second.Info(me, run); !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("its former owner: %v", err)
		}
		batches, err := second.Read(t.Context(), operator, run, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for batch, err := range batches {
			if err != nil {
				t.Fatal(err)
			}
			n += len(batch)
		}
		if n < 4 {
			t.Errorf("its log has %d entries", n)
		}
	}
	id, _ := second.waitForAsk(other, 0)
	second.acceptAsk(id, `{"who":"Ada"}`)
	if end := second.waitForEnd(other); end.Status != runlog.Completed {
		t.Errorf("the other run: %+v", end)
	}
	second.closeNow()
	third := openTestEngine(t, o)
	if info, err := third.Info(operator, asking); err != nil || info.State != engine.Interrupted {
		t.Errorf("after another restart: %+v, %v", info, err)
	}
}
