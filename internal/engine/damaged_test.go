package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
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
