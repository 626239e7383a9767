package jetstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// blockDamages are kinds of damage to a log with four blocks.
var blockDamages = map[string]func(t *testing.T, msgs string){
	"the first block cut to a quarter": func(t *testing.T, msgs string) {
		truncateFile(t, msgs, "1.blk", fileSize(t, filepath.Join(msgs, "1.blk"))/4)
	},
	"the first block cut at the end of a record": func(t *testing.T, msgs string) {
		truncateFile(t, msgs, "1.blk", recordEnds(t, msgs, "1.blk")[3])
	},
	"the first block gone":  func(t *testing.T, msgs string) { removeFile(t, filepath.Join(msgs, "1.blk")) },
	"the middle block gone": func(t *testing.T, msgs string) { removeFile(t, filepath.Join(msgs, "2.blk")) },
	"the middle block cut at the end of a record": func(t *testing.T, msgs string) {
		truncateFile(t, msgs, "2.blk", recordEnds(t, msgs, "2.blk")[5])
	},
	"the last block gone": func(t *testing.T, msgs string) { removeFile(t, filepath.Join(msgs, "4.blk")) },
	"the last block cut at the end of a record": func(t *testing.T, msgs string) {
		ends := recordEnds(t, msgs, "4.blk")
		truncateFile(t, msgs, "4.blk", ends[len(ends)-2])
	},
	"a bit of the last record flipped": func(t *testing.T, msgs string) { flipBit(t, filepath.Join(msgs, "4.blk"), -50) },
	"a bit in the middle flipped":      func(t *testing.T, msgs string) { flipBit(t, filepath.Join(msgs, "2.blk"), 5_000) },
}

// TestDamagedBlocksAreRefused checks that Open reports each kind of damage and changes
// nothing, after a clean stop and after a kill that followed the mark.
func TestDamagedBlocksAreRefused(t *testing.T) {
	clean, killed := thirtyRunDirs(t)
	for name, damage := range blockDamages {
		for how, from := range map[string]string{"stopped": clean, "killed": killed} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				dir := copyFolder(t, from)
				damage(t, filepath.Join(dir, messagesPath))
				wantRefused(t, dir)
			})
		}
	}
}

// TestDamagedMarkIsRefused checks that Open refuses a missing or unreadable mark.
func TestDamagedMarkIsRefused(t *testing.T) {
	clean, killed := thirtyRunDirs(t)
	for _, from := range []string{clean, killed} {
		for name, damage := range map[string]func(t *testing.T, path string){
			"gone":    removeFile,
			"empty":   func(t *testing.T, path string) { truncateFile(t, filepath.Dir(path), filepath.Base(path), 0) },
			"flipped": func(t *testing.T, path string) { flipBit(t, path, 20) },
		} {
			t.Run(name, func(t *testing.T) {
				dir := copyFolder(t, from)
				damage(t, filepath.Join(dir, "high-water-mark"))
				wantRefused(t, dir)
			})
		}
	}
}

// wantRefused checks that Open refuses a damaged log and doesn't change it.
func wantRefused(t *testing.T, dir string) {
	t.Helper()
	before := programtest.FileDigests(t, dir)
	l, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir})
	if err == nil {
		l.Close()
	}
	if t.Log(err); !errors.Is(err, jetstream.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if after := programtest.FileDigests(t, dir); !maps.Equal(before, after) {
		t.Errorf("it is changed:\n%v\n%v", before, after)
	}
}

const messagesPath = "jetstream/$G/streams/runs/msgs"

// thirtyRunDirs returns two folders with thirty waiting runs in four blocks: of a log
// that was closed, and of one whose process was killed. Tests must copy them.
func thirtyRunDirs(t *testing.T) (clean, killed string) {
	t.Helper()
	dir, err := makeThirtyRuns()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "clean"), filepath.Join(dir, "killed")
}

// fixtureDir holds these folders once they exist. TestMain removes it.
var fixtureDir string

var makeThirtyRuns = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "beam-test-"); err != nil {
		return "", err
	}
	fixtureDir = dir
	clean := filepath.Join(dir, "clean")
	l, err := jetstream.Open(context.Background(), jetstream.Options{Dir: clean})
	if err != nil {
		return dir, err
	}
	large := json.RawMessage(`"` + strings.Repeat("x", 160_000) + `"`)
	for n := range 90 {
		run, after := fmt.Sprint("run", n%30), uint64(n/30)
		if _, err := l.Append(context.Background(), run, after, runlog.Entry{Kind: "chunk", Data: large}); err != nil {
			return dir, err
		}
	}
	if err := l.AdvanceHighWater(context.Background()); err != nil {
		return dir, err
	}
	if err := copyUnchanged(filepath.Join(dir, "killed"), clean); err != nil {
		return dir, err
	}
	if err := l.Close(); err != nil {
		return dir, err
	}
	if n, _ := filepath.Glob(filepath.Join(clean, messagesPath, "*.blk")); len(n) != 4 {
		return dir, fmt.Errorf("its blocks are %v", n)
	}
	return dir, nil
})

// recordEnds returns the offsets at which the records of a block end.
func recordEnds(t *testing.T, msgs, name string) (ends []int) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(msgs, name))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(raw); {
		if !bytes.HasPrefix(raw[at+22:], []byte("runs.")) {
			t.Fatalf("no record at %d", at)
		}
		at += int(raw[at]) | int(raw[at+1])<<8 | int(raw[at+2])<<16
		ends = append(ends, at)
	}
	return ends
}

// TestFormat1IsUpgraded checks that a folder of format 1 gets a mark.
func TestFormat1IsUpgraded(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, jetstream.Options{Dir: dir})
	appendNumbered(t, l, "r", 0, 3)
	l.Close()
	removeFile(t, filepath.Join(dir, "high-water-mark"))
	if err := os.WriteFile(filepath.Join(dir, "format"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, jetstream.Options{Dir: dir})
	if n := countEntries(t, l, "r", 0); n != 3 {
		t.Errorf("%d entries", n)
	}
	killed := copyFolder(t, dir)
	removeFile(t, filepath.Join(killed, messagesPath, "1.blk"))
	wantRefused(t, killed)
	l.Close()
	removeFile(t, filepath.Join(dir, messagesPath, "1.blk"))
	wantRefused(t, dir)
}

// TestDeletedRunsStayDeleted checks that deletions aren't taken for damage or undone,
// wherever a crash happens.
func TestDeletedRunsStayDeleted(t *testing.T) {
	clean, _ := thirtyRunDirs(t)
	clean = copyFolder(t, clean)
	l := openLog(t, jetstream.Options{Dir: clean})
	for n := range 29 { // the first two blocks are emptied and removed
		if err := l.Delete(t.Context(), fmt.Sprint("run", n)); err != nil {
			t.Fatal(err)
		}
		if n%7 == 3 {
			appendNumbered(t, l, fmt.Sprint("new", n), 0, 2)
		}
		if n == 15 {
			if err := l.AdvanceHighWater(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n%5 != 3 && n != 28 {
			continue
		}
		killed := openLog(t, jetstream.Options{Dir: copyFolder(t, clean)})
		if runs := len(listRuns(t, killed)); runs != 29-n+(n+4)/7 {
			t.Errorf("after %d deletions there are %d runs", n+1, runs)
		}
		killed.Close()
	}
	l.Close()
	l = openLog(t, jetstream.Options{Dir: clean})
	if runs := listRuns(t, l); len(runs) != 5 {
		t.Errorf("there are %v", runs)
	}
	for _, run := range listRuns(t, l) {
		if err := l.Delete(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	killed := copyFolder(t, clean)
	l.Close()
	for _, dir := range []string{clean, killed} {
		if runs := listRuns(t, openLog(t, jetstream.Options{Dir: dir})); len(runs) != 0 {
			t.Errorf("there are %v", runs)
		}
	}
}

// TestInterruptedDeletionIsCompleted checks that a recorded deletion is completed at
// the next start.
func TestInterruptedDeletionIsCompleted(t *testing.T) {
	clean, killed := thirtyRunDirs(t)
	for _, from := range []string{clean, killed} {
		dir := copyFolder(t, from)
		l := openLog(t, jetstream.Options{Dir: dir})
		if err := l.RecordDeletion(t.Context(), "run7"); err != nil {
			t.Fatal(err)
		}
		dir = copyFolder(t, dir)
		l = openLog(t, jetstream.Options{Dir: dir})
		if runs := listRuns(t, l); len(runs) != 29 || slices.Contains(runs, "run7") {
			t.Errorf("there are %v", runs)
		}
	}
}

func listRuns(t *testing.T, l *jetstream.Log) (runs []string) {
	t.Helper()
	for run, err := range l.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// TestRecover checks that readable runs continue, that the damaged log is moved away
// unchanged, and that runs with missing entries fail.
func TestRecover(t *testing.T) {
	clean, killed := thirtyRunDirs(t)
	for name, damage := range blockDamages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyFolder(t, map[bool]string{true: clean, false: killed}[len(name)%2 == 0])
			damage(t, filepath.Join(dir, messagesPath))
			before := programtest.FileDigests(t, dir)
			report, err := jetstream.Check(dir)
			if err != nil || !errors.Is(report.Damage, jetstream.ErrCorrupt) {
				t.Fatalf("%+v, %v", report, err)
			}
			t.Logf("%v: %s", report.Damage, report.Summary())
			recovered, err := jetstream.Recover(t.Context(), jetstream.Options{Dir: dir})
			if err != nil || recovered.Summary() != report.Summary() || len(recovered.Headless)+recovered.Runs > 30 {
				t.Fatalf("%+v, %v", recovered, err)
			}
			if after := programtest.FileDigests(t, filepath.Join(recovered.DamagedDir, "log")); !maps.Equal(before, after) {
				t.Errorf("the damaged log was changed:\n%v\n%v", before, after)
			}
			if again, err := jetstream.Check(dir); err != nil || again.Damage != nil || again.Runs != report.Runs {
				t.Errorf("then: %+v, %v", again, err)
			}
			l := openLog(t, jetstream.Options{Dir: dir})
			ended := 0
			for _, run := range listRuns(t, l) {
				n := uint64(0)
				finished := false
				for batch, err := range l.Read(t.Context(), run, 0) {
					if err != nil {
						t.Fatal(err)
					}
					n += uint64(len(batch))
					finished = batch[len(batch)-1].Kind == runlog.KindFinished
				}
				if hole := report.Truncated[run]; finished != (hole > 0) || hole > 0 && n != hole {
					t.Errorf("%s has %d entries, finished %v; its hole was at %d", run, n, finished, hole)
				}
				if finished {
					ended++
				}
			}
			if ended != len(report.Truncated) {
				t.Errorf("%d runs are ended", ended)
			}
		})
	}
}

// TestMissingEntriesAreReported checks that readers and followers get an error when
// entries are missing, which Open can't detect without a mark.
func TestMissingEntriesAreReported(t *testing.T) {
	clean, _ := thirtyRunDirs(t)
	for name, damage := range blockDamages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyFolder(t, clean)
			damage(t, filepath.Join(dir, messagesPath))
			removeFile(t, filepath.Join(dir, "high-water-mark"))
			if err := os.WriteFile(filepath.Join(dir, "format"), []byte("1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			report, err := jetstream.Check(dir)
			if err != nil {
				t.Fatal(err)
			}
			l, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir})
			if errors.Is(err, jetstream.ErrCorrupt) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for _, run := range slices.Concat(slices.Collect(maps.Keys(report.Truncated)), report.Headless) {
				for _, read := range []iter.Seq2[[]runlog.Entry, error]{l.Follow(t.Context(), run, 0), l.Read(t.Context(), run, 0)} {
					var last error
					for _, err := range read {
						last = err
					}
					if !errors.Is(last, jetstream.ErrCorrupt) || !strings.Contains(last.Error(), run) {
						t.Errorf("%s ends with %v", run, last)
					}
				}
			}
		})
	}
}
