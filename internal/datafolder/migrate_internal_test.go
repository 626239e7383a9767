package datafolder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// Variables of a process that is killed at a step of a migration, an undo, or a repair.
const (
	killFolderVar = "BEAM_TEST_KILL_FOLDER"
	killWorkVar   = "BEAM_TEST_KILL_WORK"
	killStepVar   = "BEAM_TEST_KILL_STEP"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killFolderVar); dir != "" {
		step, err := strconv.Atoi(os.Getenv(killStepVar))
		if err == nil {
			err = doReaching(dir, os.Getenv(killWorkVar), func(string) {
				if step--; step < 0 {
					p, _ := os.FindProcess(os.Getpid())
					_ = p.Kill()
					select {}
				}
			})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// doReaching migrates a folder, undoes that, or repairs it, and calls reached at each step.
func doReaching(dir, work string, reached func(string)) error {
	f, err := lockUnchecked(dir)
	if err != nil {
		return err
	}
	f.reached = reached
	logger := slog.New(slog.DiscardHandler)
	switch work {
	case "migrate":
		m := migration{f, logger}
		err = m.run(context.Background())
	case "open":
		err = f.WithStore(context.Background(), logger, func(*store.Store) error { return nil })
	case "undo":
		err = f.undoMigration(context.Background())
	case "repair":
		err = newRepairer(f, logger).repair(context.Background(), true)
	}
	return errors.Join(err, f.unlock())
}

// eachKill does the work on copies of a folder, each of which is killed at another step, and
// calls check with the copy.
func eachKill(t *testing.T, dir, work string, check func(t *testing.T, dir string)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("files of a killed process stay locked for a while")
	}
	var steps []string
	if err := doReaching(copyFolder(t, dir), work, func(step string) { steps = append(steps, step) }); err != nil {
		t.Fatal(work, err)
	}
	copied := 0
	for i, step := range steps {
		if step == "an append is read" {
			if copied++; copied != 1 && copied != 40 {
				continue
			}
		}
		killed := copyFolder(t, dir)
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), killFolderVar+"="+killed, killWorkVar+"="+work, fmt.Sprint(killStepVar, "=", i))
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("killed when %s: %v: %s", step, err, out)
		}
		t.Run(work+" killed when "+step, func(t *testing.T) { check(t, killed) })
	}
	if len(steps) < 4 {
		t.Errorf("%s has only the steps %v", work, steps)
	}
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.CopyFS(dir, os.DirFS(from)), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// oldFolder returns a folder of an earlier version.
func oldFolder(t *testing.T, name string) string {
	t.Helper()
	return unpackFolder(t, filepath.Join("../systemtest/durability/testdata/c2c56c6", name+".tar.gz"))
}

func unpackFolder(t *testing.T, archive string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	programtest.UnpackArchive(t, archive, dir)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readOldRuns returns the entries of all runs in an earlier version's folder, as JSON.
func readOldRuns(t *testing.T, dir string) map[string][]string {
	t.Helper()
	old, err := oldlog.Open(filepath.Join(dir, logFolder))
	if err != nil {
		t.Fatal(err)
	}
	runs := make(map[string][]string)
	for a, err := range old.Scan(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		runs[a.Run] = append(runs[a.Run], entriesJSON(t, a.Entries)...)
	}
	return runs
}

func readStoredRuns(t *testing.T, dir string) map[string][]string {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs := make(map[string][]string)
	for run, err := range s.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for entries, err := range s.Read(t.Context(), run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			runs[run] = append(runs[run], entriesJSON(t, entries)...)
		}
	}
	return runs
}

func entriesJSON(t *testing.T, entries []runlog.Entry) (all []string) {
	t.Helper()
	for _, e := range entries {
		e.Time = e.Time.UTC()
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw))
	}
	return all
}

func wantRuns(t *testing.T, got, want map[string][]string) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("there are %d runs, want %d", len(got), len(want))
	}
	for id, entries := range want {
		if !slices.Equal(got[id], entries) {
			t.Errorf("run %s has\n%v\nwant\n%v", id, got[id], entries)
		}
	}
}

func wantWhole(t *testing.T, dir string) {
	t.Helper()
	report, err := Check(t.Context(), dir)
	if err != nil || !report.Whole() {
		t.Errorf("the folder isn't whole: %v %v, %v", report.Damaged, report.Problems, err)
	}
	for _, name := range []string{newStoreFolder, replacementFolder, salvageFolder} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// Killed anywhere, a migration loses nothing: the next one goes on. It can be undone until
// something is recorded.
func TestMigrationKilled(t *testing.T) {
	for _, name := range []string{"stopped", "killed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := oldFolder(t, name)
			runs, digests := readOldRuns(t, dir), programtest.FileDigests(t, filepath.Join(dir, logFolder))
			wantOld := func(t *testing.T, dir string) {
				t.Helper()
				if now := programtest.FileDigests(t, filepath.Join(dir, logFolder)); !maps.Equal(now, digests) {
					t.Error("the log isn't what it was")
				}
				for _, name := range append(sqlite.FileNames(), migratedFile, newStoreFolder, replacementFolder) {
					if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
						t.Errorf("%s is left", name)
					}
				}
			}
			eachKill(t, dir, "migrate", func(t *testing.T, dir string) {
				undone := copyFolder(t, dir)
				if err := UndoMigration(t.Context(), undone); err != nil {
					t.Errorf("undoing: %v", err)
				}
				wantOld(t, undone)
				mustMigrate(t, dir)
				wantRuns(t, readStoredRuns(t, dir), runs)
				wantWhole(t, dir)
			})
			mustMigrate(t, dir)
			eachKill(t, dir, "undo", func(t *testing.T, dir string) {
				again := copyFolder(t, dir)
				mustMigrate(t, again)
				wantRuns(t, readStoredRuns(t, again), runs)
				wantWhole(t, again)
				if err := UndoMigration(t.Context(), dir); err != nil && !errors.Is(err, ErrNotMigrated) {
					t.Errorf("undoing again: %v", err)
				}
				wantOld(t, dir)
			})
		})
	}
}

func mustMigrate(t *testing.T, dir string) {
	t.Helper()
	if err := Migrate(t.Context(), dir, slog.New(slog.DiscardHandler), nil); err != nil {
		t.Fatal(err)
	}
}

// A migration after which something was recorded isn't undone, and neither is one without the
// log.
func TestUndoRefused(t *testing.T) {
	dir := oldFolder(t, "stopped")
	if err := UndoMigration(t.Context(), dir); !errors.Is(err, ErrNotMigrated) {
		t.Errorf("before a migration: %v", err)
	}
	mustMigrate(t, dir)
	gone := copyFolder(t, dir)
	if err := os.RemoveAll(filepath.Join(gone, logFolder)); err != nil {
		t.Fatal(err)
	}
	if err := UndoMigration(t.Context(), gone); err == nil || !strings.Contains(err.Error(), "log of the earlier version is needed") {
		t.Errorf("without the log: %v", err)
	}
	wantWhole(t, gone)
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), "new", 0, runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p"}))
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := UndoMigration(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "recorded since") {
		t.Errorf("after an append: %v", err)
	}
	wantWhole(t, dir)
}
