package jetstream_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// damages are what may happen to the blocks of a log, of which there are four.
var damages = map[string]func(t *testing.T, msgs string){
	"the first block cut to a quarter": func(t *testing.T, msgs string) { cut(t, msgs, "1.blk", fileSize(t, filepath.Join(msgs, "1.blk"))/4) },
	"the first block cut at the end of a record": func(t *testing.T, msgs string) {
		cut(t, msgs, "1.blk", records(t, msgs, "1.blk")[3])
	},
	"the first block gone":  func(t *testing.T, msgs string) { removeFile(t, filepath.Join(msgs, "1.blk")) },
	"the middle block gone": func(t *testing.T, msgs string) { removeFile(t, filepath.Join(msgs, "2.blk")) },
	"the middle block cut at the end of a record": func(t *testing.T, msgs string) {
		cut(t, msgs, "2.blk", records(t, msgs, "2.blk")[5])
	},
	"the last block gone": func(t *testing.T, msgs string) { removeFile(t, filepath.Join(msgs, "4.blk")) },
	"the last block cut at the end of a record": func(t *testing.T, msgs string) {
		ends := records(t, msgs, "4.blk")
		cut(t, msgs, "4.blk", ends[len(ends)-2])
	},
	"a bit of the last record flipped": func(t *testing.T, msgs string) { flip(t, filepath.Join(msgs, "4.blk"), -50) },
	"a bit in the middle flipped":      func(t *testing.T, msgs string) { flip(t, filepath.Join(msgs, "2.blk"), 5_000) },
}

// TestWhole: each damage is refused with its place, and nothing in the folder is
// touched, after a clean stop and after a crash that followed the mark.
func TestWhole(t *testing.T) {
	clean, killed := thirty(t)
	for name, damage := range damages {
		for how, from := range map[string]string{"stopped": clean, "killed": killed} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				dir := crashed(t, from)
				damage(t, filepath.Join(dir, folderSyncer))
				refused(t, dir)
			})
		}
	}
}

// TestUnmarked: a folder whose mark is gone, or can't be read, is refused.
func TestUnmarked(t *testing.T) {
	clean, killed := thirty(t)
	for _, from := range []string{clean, killed} {
		for name, damage := range map[string]func(t *testing.T, path string){
			"gone":    removeFile,
			"empty":   func(t *testing.T, path string) { cut(t, filepath.Dir(path), filepath.Base(path), 0) },
			"flipped": func(t *testing.T, path string) { flip(t, path, 20) },
		} {
			t.Run(name, func(t *testing.T) {
				dir := crashed(t, from)
				damage(t, filepath.Join(dir, "high-water-mark"))
				refused(t, dir)
			})
		}
	}
}

// refused opens a damaged log.
func refused(t *testing.T, dir string) {
	t.Helper()
	before := digests(t, dir)
	l, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir})
	if err == nil {
		l.Close()
	}
	if t.Log(err); !errors.Is(err, jetstream.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if after := digests(t, dir); !maps.Equal(before, after) {
		t.Errorf("it is changed:\n%v\n%v", before, after)
	}
}

const folderSyncer = "jetstream/$G/streams/runs/msgs"

// thirty are folders of thirty runs that wait, in four blocks: one that was
// closed, and one whose process was killed. Tests change copies of them.
func thirty(t *testing.T) (clean, killed string) {
	t.Helper()
	dir, err := thirtyRuns()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "clean"), filepath.Join(dir, "killed")
}

// thirtyDir is where they are, if there are any; TestMain removes it.
var thirtyDir string

var thirtyRuns = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "beam-test-"); err != nil {
		return "", err
	}
	thirtyDir = dir
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
	if err := os.CopyFS(filepath.Join(dir, "killed"), os.DirFS(clean)); err != nil {
		return dir, err
	}
	if err := l.Close(); err != nil {
		return dir, err
	}
	if n, _ := filepath.Glob(filepath.Join(clean, folderSyncer, "*.blk")); len(n) != 4 {
		return dir, fmt.Errorf("its blocks are %v", n)
	}
	return dir, nil
})

// digests are those of all files in a folder.
func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = "folder"
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = fmt.Sprintf("%x", sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// records are where the records of a block end: they begin with their length, and
// each has its subject.
func records(t *testing.T, msgs, name string) (ends []int) {
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

func cut(t *testing.T, msgs, name string, at int) {
	t.Helper()
	if err := os.Truncate(filepath.Join(msgs, name), int64(at)); err != nil {
		t.Fatal(err)
	}
}

// flip flips one bit, counted from the end if at is negative.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(raw)
	}
	raw[at] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOld: a folder of format 1 has no mark, and gets one.
func TestOld(t *testing.T) {
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
	killed := crashed(t, dir)
	removeFile(t, filepath.Join(killed, folderSyncer, "1.blk"))
	refused(t, killed)
	l.Close()
	removeFile(t, filepath.Join(dir, folderSyncer, "1.blk"))
	refused(t, dir)
}

// TestDeleted: what was deleted isn't missed, wherever a crash comes, and none of
// it comes back.
func TestDeleted(t *testing.T) {
	clean, _ := thirty(t)
	clean = crashed(t, clean)
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
		killed := openLog(t, jetstream.Options{Dir: crashed(t, clean)})
		if runs := len(runsOf(t, killed)); runs != 29-n+(n+4)/7 {
			t.Errorf("after %d deletions there are %d runs", n+1, runs)
		}
		killed.Close()
	}
	l.Close()
	l = openLog(t, jetstream.Options{Dir: clean})
	if runs := runsOf(t, l); len(runs) != 5 {
		t.Errorf("there are %v", runs)
	}
	for _, run := range runsOf(t, l) {
		if err := l.Delete(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	killed := crashed(t, clean)
	l.Close()
	for _, dir := range []string{clean, killed} {
		if runs := runsOf(t, openLog(t, jetstream.Options{Dir: dir})); len(runs) != 0 {
			t.Errorf("there are %v", runs)
		}
	}
}

// TestHalfDeleted: a deletion that was noted, and then the process ended, is
// completed.
func TestHalfDeleted(t *testing.T) {
	clean, killed := thirty(t)
	for _, from := range []string{clean, killed} {
		dir := crashed(t, from)
		l := openLog(t, jetstream.Options{Dir: dir})
		if err := l.RecordDeletion(t.Context(), "run7"); err != nil {
			t.Fatal(err)
		}
		dir = crashed(t, dir)
		l = openLog(t, jetstream.Options{Dir: dir})
		if runs := runsOf(t, l); len(runs) != 29 || slices.Contains(runs, "run7") {
			t.Errorf("there are %v", runs)
		}
	}
}

func runsOf(t *testing.T, l *jetstream.Log) (runs []string) {
	t.Helper()
	for run, err := range l.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// TestRecover: what can be read goes on, what is broken is moved aside as it
// was, and runs with a hole end.
func TestRecover(t *testing.T) {
	clean, killed := thirty(t)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := crashed(t, map[bool]string{true: clean, false: killed}[len(name)%2 == 0])
			damage(t, filepath.Join(dir, folderSyncer))
			before := digests(t, dir)
			report, err := jetstream.Check(dir)
			if err != nil || !errors.Is(report.Damage, jetstream.ErrCorrupt) {
				t.Fatalf("%+v, %v", report, err)
			}
			t.Logf("%v: %s", report.Damage, report.Summary())
			recovered, err := jetstream.Recover(t.Context(), jetstream.Options{Dir: dir})
			if err != nil || recovered.Summary() != report.Summary() || len(recovered.Headless)+recovered.Runs > 30 {
				t.Fatalf("%+v, %v", recovered, err)
			}
			if after := digests(t, filepath.Join(recovered.DamagedDir, "log")); !maps.Equal(before, after) {
				t.Errorf("what is aside is changed:\n%v\n%v", before, after)
			}
			if again, err := jetstream.Check(dir); err != nil || again.Damage != nil || again.Runs != report.Runs {
				t.Errorf("then: %+v, %v", again, err)
			}
			l := openLog(t, jetstream.Options{Dir: dir})
			ended := 0
			for _, run := range runsOf(t, l) {
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

// TestHole: a reader or a follower that comes to a hole gets an error with its
// place, and no silence. Folders without a mark may have one.
func TestHole(t *testing.T) {
	clean, _ := thirty(t)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := crashed(t, clean)
			damage(t, filepath.Join(dir, folderSyncer))
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
