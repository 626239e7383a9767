package datafolder

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

func repair(t *testing.T, dir string, apply bool) RepairReport {
	t.Helper()
	r, err := Repair(t.Context(), dir, apply, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// migratedFolder returns a folder whose runs were copied from an earlier version's.
func migratedFolder(t *testing.T) string {
	t.Helper()
	dir := oldFolder(t, "stopped")
	mustMigrate(t, dir)
	return dir
}

func change(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(raw), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The kinds of pages with rows (SQLite, Database File Format, B-tree Pages).
const (
	indexLeaf = 10
	tableLeaf = 13
)

// zeroPage zeroes the first page of a kind in the database that contains a text: its checksum is
// right.
func zeroPage(t *testing.T, dir string, kind byte, contains string) {
	t.Helper()
	changePage(t, dir, kind, contains, func(page []byte) { clear(page) })
}

// changePage changes the first page of a kind in the database that contains a text.
func changePage(t *testing.T, dir string, kind byte, contains string, to func([]byte)) {
	t.Helper()
	const page = 4096
	change(t, filepath.Join(dir, "beam.db"), func(db []byte) []byte {
		for at := page; at < len(db); at += page {
			if db[at] == kind && bytes.Contains(db[at:at+page], []byte(contains)) {
				to(db[at : at+page])
				return db
			}
		}
		t.Fatalf("no page contains %q", contains)
		return nil
	})
}

// rowsOf returns the rows of all runs in a folder.
func rowsOf(t *testing.T, dir string) map[string]*runlist.Row {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.RunsOf(t.Context(), "", runlist.Position{}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*runlist.Row)
	for _, r := range rows {
		all[r.ID] = r
	}
	return all
}

// A folder that isn't damaged is left alone.
func TestRepairIntact(t *testing.T) {
	for name, dir := range map[string]string{"migrated": migratedFolder(t), "of an earlier version": oldFolder(t, "killed")} {
		before := programtest.FileDigests(t, dir)
		if r := repair(t, dir, true); !r.Intact || r.Runs == 0 {
			t.Errorf("%s: %+v", name, r)
		}
		after := programtest.FileDigests(t, dir)
		delete(after, lockFile)
		delete(before, lockFile)
		if !maps.Equal(before, after) {
			t.Errorf("%s: the folder was\n%v\nand is\n%v", name, before, after)
		}
	}
	if _, err := Repair(t.Context(), filepath.Join(t.TempDir(), "none"), true, slog.New(slog.DiscardHandler), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// A repair says what would be lost, and then keeps everything else. It moves what is damaged
// aside. Killed anywhere, the next one goes on.
func TestRepair(t *testing.T) {
	whole := migratedFolder(t)
	runs, rows := readStoredRuns(t, whole), rowsOf(t, whole)
	for name, c := range map[string]struct {
		damage  func(t *testing.T, dir string)
		keeps   int  // runs, at least, that are as before
		unsure  bool // the last transactions may be lost
		nothing bool // is lost
	}{
		"no mark":           {func(t *testing.T, dir string) { mustRemove(t, filepath.Join(dir, "beam.mark")) }, len(runs) / 2, true, false},
		"mark of another":   {func(t *testing.T, dir string) { change(t, filepath.Join(dir, "beam.mark"), flipMarks) }, len(runs) / 2, true, false},
		"a page of entries": {func(t *testing.T, dir string) { zeroPage(t, dir, indexLeaf, "stepped") }, 3, false, false},
		"a bit of a row": {func(t *testing.T, dir string) {
			changePage(t, dir, tableLeaf, `{"s":{`, func(page []byte) { page[4000] ^= 1 })
		}, 3, false, true},
		"a page of an index": {func(t *testing.T, dir string) { zeroPage(t, dir, indexLeaf, "token") }, 3, false, true},
		"a bit of the header": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "beam.db"), func(db []byte) []byte { db[27] ^= 1; return db })
		}, len(runs), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyFolder(t, whole)
			c.damage(t, dir)
			before := programtest.FileDigests(t, dir)
			plan := repair(t, dir, false)
			if after := programtest.FileDigests(t, dir); !maps.Equal(before, after) {
				t.Errorf("saying what would be lost has changed the folder:\n%v\n%v", before, after)
			}
			if none := len(plan.Damaged)+len(plan.Problems) == 0; plan.Intact || plan.Aside != "" || none != c.nothing {
				t.Errorf("the plan is %+v", plan)
			}
			if name == "no mark" || !testing.Short() {
				eachKill(t, dir, "repair", func(t *testing.T, dir string) {
					repair(t, dir, true)
					wantKept(t, dir, runs, rows, c.keeps, plan)
				})
			}
			done := repair(t, dir, true)
			if done.Runs != plan.Runs || len(done.Ended) != len(plan.Ended) {
				t.Errorf("planned was %+v, done %+v", plan, done)
			}
			for file, digest := range before {
				if aside := filepath.Join(done.Aside, file); strings.HasPrefix(file, "beam.") && programtest.FileDigests(t, dir)[aside] != digest {
					t.Errorf("%s isn't kept aside", file)
				}
			}
			wantKept(t, dir, runs, rows, c.keeps, plan)
		})
	}
}

func mustRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func flipMarks(raw []byte) []byte {
	raw[20] ^= 1
	raw[512+20] ^= 1
	return raw
}

// wantKept checks that runs are whole, or the beginning of what they were and ended as planned.
func wantKept(t *testing.T, dir string, was map[string][]string, rows map[string]*runlist.Row, keeps int, plan RepairReport) {
	t.Helper()
	wantWhole(t, dir)
	now, nowRows, same := readStoredRuns(t, dir), rowsOf(t, dir), 0
	for id, entries := range now {
		row := nowRows[id]
		if strings.Join(entries, "\n") == strings.Join(was[id], "\n") {
			same++
			continue
		}
		if row.State != runstate.Failed || !strings.Contains(row.Error, "damaged and repaired") {
			t.Errorf("run %s isn't as it was, and is %s: %s", id, row.State, row.Error)
		}
		n := len(entries) - 1 - len(rows[id].Asks) // without what ends it
		if n = max(n, 0); n < len(entries) && strings.Join(entries[:n], "\n") != strings.Join(was[id][:min(n, len(was[id]))], "\n") {
			t.Errorf("run %s has other entries than it had", id)
		}
		if rows[id].State == runstate.Waiting && plan.Damaged[id] == "" {
			t.Errorf("run %s waited, isn't named, and has ended", id)
		}
	}
	if same < keeps {
		t.Errorf("%d runs are as they were, want %d", same, keeps)
	}
}

// A damaged log of an earlier version isn't migrated, and says what can be done. Repaired, its
// runs that would go on by themselves have ended.
func TestRepairOldLog(t *testing.T) {
	dir := unpackFolder(t, "../oldlog/testdata/stopped.tar.gz")
	rows := func() map[string]*runlist.Row {
		whole := copyFolder(t, dir)
		mustMigrate(t, whole)
		return rowsOf(t, whole)
	}()
	change(t, filepath.Join(dir, "log/jetstream/$G/streams/runs/msgs/1.blk"), func(raw []byte) []byte { return raw[:len(raw)*2/3] })
	err := Migrate(t.Context(), dir, slog.New(slog.DiscardHandler), nil)
	if !errors.Is(err, runlog.ErrCorrupt) || !strings.Contains(err.Error(), "1.blk") || !strings.Contains(err.Error(), "repair") {
		t.Errorf("migrating says %v", err)
	}
	if _, err := Check(t.Context(), dir); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("check says %v", err)
	}
	before := programtest.FileDigests(t, dir)
	plan := repair(t, dir, false)
	if after := programtest.FileDigests(t, dir); !maps.Equal(before, after) || plan.Intact || plan.Runs == 0 || len(plan.Problems) == 0 {
		t.Errorf("the plan is %+v, and the folder was\n%v\nand is\n%v", plan, before, after)
	}
	check := func(t *testing.T, dir string) {
		if _, err := os.Stat(filepath.Join(dir, "beam.db")); err != nil {
			repair(t, dir, true) // it was killed before
		}
		mustMigrate(t, dir)
		wantWhole(t, dir)
		now := rowsOf(t, dir)
		if len(now) != plan.Runs || len(now) > len(rows) {
			t.Errorf("there are %d runs, planned were %d of %d", len(now), plan.Runs, len(rows))
		}
		for id, row := range now {
			if !row.State.Ended() && row.State != runstate.Waiting {
				t.Errorf("run %s goes on: it is %s", id, row.State)
			}
		}
	}
	eachKill(t, dir, "repair", check)
	repair(t, dir, true)
	check(t, dir)
}

// A damaged file of a run costs that run, and is moved aside; one that may not be read isn't
// damaged.
func TestRepairDamagedFile(t *testing.T) {
	dir := migratedFolder(t)
	files, err := filepath.Glob(filepath.Join(dir, blobFolder, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	run := filepath.Base(filepath.Dir(files[0]))
	change(t, files[0], func(raw []byte) []byte { raw[0] ^= 1; return raw })
	report, err := Check(t.Context(), dir)
	if err != nil || !strings.Contains(report.Damaged[run], "is damaged") {
		t.Errorf("check names %v, %v", report.Damaged, err)
	}
	r := repair(t, dir, true)
	if len(r.Damaged) != 1 || r.Damaged[run] == "" {
		t.Errorf("the repair names %v", r.Damaged)
	}
	if _, err := os.Stat(filepath.Join(dir, r.Aside, blobFolder, run, filepath.Base(files[0]))); err != nil {
		t.Error(err)
	}
	wantWhole(t, dir)
	if row := rowsOf(t, dir)[run]; row == nil || !row.State.Ended() {
		t.Errorf("the run is %+v", row)
	}
	if report, err := Check(t.Context(), dir); err != nil || !slices.Equal(report.MissingFiles[run], []string{filepath.Base(files[0])}) {
		t.Errorf("afterwards, check names the missing files %v, %v", report.MissingFiles, err)
	}
}

// A file that is missing is named, and the run keeps the rest.
func TestMissingFile(t *testing.T) {
	dir := migratedFolder(t)
	files, err := filepath.Glob(filepath.Join(dir, blobFolder, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		run := filepath.Base(filepath.Dir(file))
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		mustRemove(t, filepath.Join(copied, blobFolder, run, filepath.Base(file)))
		report, err := Check(t.Context(), copied)
		if err != nil || report.Damaged[run] == "" && len(report.MissingFiles[run]) == 0 {
			t.Errorf("%s: check names %v and %v, %v", file, report.Damaged, report.MissingFiles, err)
		}
	}
}

// A folder that has files of runs, and no runs, is refused.
func TestRunsGone(t *testing.T) {
	dir := migratedFolder(t)
	for _, name := range append(sqlite.FileNames(), logFolder) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func() error{
		"check":  func() error { _, err := Check(t.Context(), dir); return err },
		"repair": func() error { _, err := Repair(t.Context(), dir, true, slog.New(slog.DiscardHandler), nil); return err },
	} {
		if err := do(); !errors.Is(err, runlog.ErrCorrupt) || !strings.Contains(err.Error(), "mount") {
			t.Errorf("%s says %v", name, err)
		}
	}
}

// A backup that is cut off is restored in part, if that is asked for.
func TestRestorePartial(t *testing.T) {
	f, err := Open(migratedFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(backUp(t, f, &b), f.Close()); err != nil {
		t.Fatal(err)
	}
	cut := b.Bytes()[:b.Len()-200]
	dir := filepath.Join(t.TempDir(), "data")
	if _, _, err := Restore(t.Context(), dir, bytes.NewReader(cut), false, slog.New(slog.DiscardHandler)); !errors.Is(err, backup.ErrTruncated) && !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("restoring says %v", err)
	}
	sum, damage, err := Restore(t.Context(), dir, bytes.NewReader(cut), true, slog.New(slog.DiscardHandler))
	if err != nil || damage == nil || sum.Runs == 0 {
		t.Fatalf("%+v, %v, %v", sum, damage, err)
	}
	for id, row := range rowsOf(t, dir) {
		if !row.State.Ended() && row.State != runstate.Waiting {
			t.Errorf("run %s goes on: it is %s", id, row.State)
		}
	}
}

// backUp writes a backup of a folder.
func backUp(t *testing.T, f *Folder, w io.Writer) error {
	return f.WithStore(t.Context(), slog.New(slog.DiscardHandler), func(s *store.Store) error {
		return backup.Write(t.Context(), w, f.backupParts(s, s.State()), "test")
	})
}
