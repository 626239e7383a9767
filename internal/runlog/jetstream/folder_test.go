package jetstream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

func numberedEntry(n int) runlog.Entry {
	return runlog.Entry{Kind: "status", Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
}

// countEntries counts a run's entries after an ordinal, and checks their numbers.
func countEntries(t *testing.T, l runlog.Log, run string, after uint64) int {
	t.Helper()
	n := int(after)
	for batch, err := range l.Read(t.Context(), run, after) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			if n++; string(e.Data) != fmt.Sprintf(`{"n":%d}`, n) || e.Seq != uint64(n) {
				t.Fatalf("entry %d is %d, %s", n, e.Seq, e.Data)
			}
		}
	}
	return n - int(after)
}

func appendNumbered(t *testing.T, l runlog.Log, run string, after, last int) {
	t.Helper()
	var all []runlog.Entry
	for n := after + 1; n <= last; n++ {
		all = append(all, numberedEntry(n))
	}
	if _, err := l.Append(t.Context(), run, uint64(after), all...); err != nil {
		t.Fatal(err)
	}
}

// TestReopen checks that runs survive reopening and continue, including runs whose
// ids aren't valid tokens of subjects.
func TestReopen(t *testing.T) {
	dir := t.TempDir()
	ids := []string{"7f3c", "a.b", "*", ">", "", "ü ö", "=7f3c", strings.Repeat("x", 300)}
	for round := range 3 {
		l := openLog(t, jetstream.Options{Dir: dir})
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		n := 0
		for id, err := range l.Runs(t.Context()) {
			if n++; err != nil || !strings.Contains("\x00"+strings.Join(ids, "\x00")+"\x00", "\x00"+id+"\x00") {
				t.Errorf("it has a run %q (%v)", id, err)
			}
		}
		if want := min(round, 1) * len(ids); n != want {
			t.Errorf("%d runs, want %d", n, want)
		}
		for _, id := range ids {
			if n := countEntries(t, l, id, 0); n != 5*round {
				t.Errorf("round %d: %q has %d entries", round, id, n)
			}
			appendNumbered(t, l, id, 5*round, 5*round+2)
			appendNumbered(t, l, id, 5*round+2, 5*round+5)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.Append(t.Context(), "7f3c", 0, numberedEntry(1)); !errors.Is(err, jetstream.ErrClosed) || !errors.Is(l.Err(), jetstream.ErrClosed) {
			t.Errorf("once closed, it says %v", err)
		}
	}
}

// TestReadFromTheMiddle reads parts of a long run, with and without its cached tail.
func TestReadFromTheMiddle(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		l := openLog(t, jetstream.Options{Dir: dir})
		for n := 0; round == 0 && n < 10_000; n += 10 {
			appendNumbered(t, l, "long", n, n+10)
			appendNumbered(t, l, "other", n, n+10)
		}
		for _, after := range []uint64{0, 1, 511, 512, 513, 9_994, 10_000} {
			if n := countEntries(t, l, "long", after); n != 10_000-int(after) {
				t.Errorf("%d entries after %d", n, after)
			}
		}
		l.Close()
	}
}

// TestCloseWhileFollowed checks that closing the log ends followers with ErrClosed.
func TestCloseWhileFollowed(t *testing.T) {
	l := openLog(t, jetstream.Options{Dir: t.TempDir()})
	appendNumbered(t, l, "r", 0, 1)
	var last error
	for _, err := range l.Follow(t.Context(), "r", 0) {
		if last = err; err == nil {
			go l.Close()
		}
	}
	if !errors.Is(last, jetstream.ErrClosed) {
		t.Errorf("it ended with %v", last)
	}
}

// TestTooLargeAppend checks that a refused append adds nothing.
func TestTooLargeAppend(t *testing.T) {
	l := openLog(t, jetstream.Options{Dir: t.TempDir()})
	half := runlog.Entry{Kind: "chunk", Data: json.RawMessage(`"` + strings.Repeat("x", jetstream.MaxAppendBytes/2) + `"`)}
	if _, err := l.Append(t.Context(), "r", 0, half, half); !errors.Is(err, jetstream.ErrAppendTooLarge) {
		t.Errorf("got %v", err)
	}
	for n := range 3 {
		if _, err := l.Append(t.Context(), "r", uint64(n), half); err != nil {
			t.Error(err)
		}
	}
	n := 0
	for batch, err := range l.Read(t.Context(), "r", 0) {
		if n += len(batch); err != nil {
			t.Error(err)
		}
	}
	if n != 3 {
		t.Errorf("%d entries", n)
	}
}

// TestOtherFormatsAreRefused checks that other formats are refused and not changed.
func TestOtherFormatsAreRefused(t *testing.T) {
	for content, want := range map[string]error{"3\n": jetstream.ErrNewerFormat, "x": jetstream.ErrCorrupt, "": jetstream.ErrCorrupt} {
		dir := t.TempDir()
		l := openLog(t, jetstream.Options{Dir: dir})
		appendNumbered(t, l, "r", 0, 1)
		l.Close()
		path := filepath.Join(dir, "format")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir}); !errors.Is(err, want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: %v", content, err)
		}
		if err := os.WriteFile(path, []byte("2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := countEntries(t, openLog(t, jetstream.Options{Dir: dir}), "r", 0); n != 1 {
			t.Errorf("%d entries are left", n)
		}
	}
}

// TestDamageIsReported checks that Open reports damage instead of dropping runs.
func TestDamageIsReported(t *testing.T) {
	const stream = "jetstream/$G/streams/runs"
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no format":       func(t *testing.T, dir string) { removeFile(t, filepath.Join(dir, "format")) },
		"no description":  func(t *testing.T, dir string) { removeFile(t, filepath.Join(dir, stream, "meta.inf")) },
		"bad description": func(t *testing.T, dir string) { invertBytes(t, filepath.Join(dir, stream, "meta.inf"), 20) },
		"a bad message":   func(t *testing.T, dir string) { invertBytes(t, filepath.Join(dir, stream, "msgs/1.blk"), 5_000) },
		"a bad end": func(t *testing.T, dir string) {
			path := filepath.Join(dir, stream, "msgs/1.blk")
			invertBytes(t, path, fileSize(t, path)-300)
		},
		"no stream":        func(t *testing.T, dir string) { removeFile(t, filepath.Join(dir, stream)) },
		"no stream at all": func(t *testing.T, dir string) { removeFile(t, filepath.Join(dir, "jetstream")) },
	} {
		for _, index := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, index %v", name, index), func(t *testing.T) {
				dir := t.TempDir()
				l := openLog(t, jetstream.Options{Dir: dir})
				for n := range 200 {
					appendNumbered(t, l, fmt.Sprint("r", n), 0, 3)
				}
				l.Close()
				damage(t, dir)
				if !index {
					_ = os.Remove(filepath.Join(dir, stream, "msgs/index.db"))
				}
				l, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir})
				if err == nil {
					l.Close()
				}
				if !errors.Is(err, jetstream.ErrCorrupt) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestTornLastBlock checks that an incomplete append at the end is discarded, and
// logged.
func TestTornLastBlock(t *testing.T) {
	for _, index := range []bool{true, false} {
		dir := t.TempDir()
		l := openLog(t, jetstream.Options{Dir: dir})
		appendNumbered(t, l, "r", 0, 3)
		appendNumbered(t, l, "r", 3, 6)
		dir = copyFolder(t, dir)
		msgs := filepath.Join(dir, "jetstream/$G/streams/runs/msgs")
		if err := os.Truncate(filepath.Join(msgs, "1.blk"), int64(fileSize(t, filepath.Join(msgs, "1.blk"))-10)); err != nil {
			t.Fatal(err)
		}
		if !index {
			removeFile(t, filepath.Join(msgs, "index.db"))
		}
		var told bytes.Buffer
		l = openLog(t, jetstream.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&told, nil))})
		if n := countEntries(t, l, "r", 0); n != 3 {
			t.Errorf("%d entries are left", n)
		}
		if !strings.Contains(told.String(), "incomplete append") {
			t.Errorf("the logger got: %s", &told)
		}
		appendNumbered(t, l, "r", 3, 7)
		if n := countEntries(t, l, "r", 0); n != 7 {
			t.Errorf("%d entries are left", n)
		}
	}
}

// mountSmallDisk returns a folder on a file system of a few megabytes.
func mountSmallDisk(t *testing.T, mib int) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mib), "beam-test", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system can't be mounted here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return dir
}

// TestDiskFull checks that a full disk is reported at once, that nothing is lost, and
// that appends succeed once there is space, both with and without reserved space.
func TestDiskFull(t *testing.T) {
	for name, spare := range map[string]int64{"seen coming": 1 << 20, "run into": -1 << 50} {
		t.Run(name, func(t *testing.T) {
			dir := mountSmallDisk(t, 12)
			ballast := filepath.Join(dir, "ballast")
			if err := os.WriteFile(ballast, make([]byte, 6<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			sub := filepath.Join(dir, "log")
			l := openLog(t, jetstream.Options{Dir: sub, MinFree: spare})
			if _, err := l.Append(t.Context(), "full", 0, largeEntry); err != nil {
				t.Fatal(err)
			}
			followed := countFollowed(t, l)
			last := fillDisk(t, l)
			if err := l.Err(); !errors.Is(err, jetstream.ErrDiskFull) {
				t.Errorf("readiness says %v", err)
			}
			if n := countAllEntries(t, l); n < last {
				t.Errorf("%d entries of %d are left", n, last)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			last = appendAfterFreeing(t, l)
			if err := l.Err(); err != nil {
				t.Errorf("readiness says %v", err)
			}
			if n := <-followed; n != last {
				t.Errorf("a follower saw %d entries of %d", n, last)
			}
			l.Close()
			if n := countAllEntries(t, openLog(t, jetstream.Options{Dir: sub, MinFree: spare})); n != last {
				t.Errorf("%d entries of %d are left", n, last)
			}
		})
	}
}

var largeEntry = runlog.Entry{Kind: "chunk", Data: json.RawMessage(`"` + strings.Repeat("x", 8_000) + `"`)}

// countFollowed returns a channel that receives the number of entries that a follower
// got by the end of the run.
func countFollowed(t *testing.T, l *jetstream.Log) <-chan int {
	seen := make(chan int, 1)
	go func() {
		n := 0
		for batch, err := range l.Follow(t.Context(), "full", 0) {
			if err != nil || batch[0].Seq != uint64(n)+1 {
				t.Errorf("a follower at %d: %d entries, %v", n, len(batch), err)
				break
			}
			n += len(batch)
		}
		seen <- n
	}()
	return seen
}

// fillDisk appends until the disk is full, and returns the number of acknowledged
// entries.
func fillDisk(t *testing.T, l *jetstream.Log) (last int) {
	t.Helper()
	last = 1
	for {
		_, err := l.Append(t.Context(), "full", uint64(last), largeEntry)
		if errors.Is(err, jetstream.ErrDiskFull) {
			t.Logf("after %d entries: %v", last, err)
			return last
		}
		if last++; err != nil || last > 2_000 {
			t.Fatalf("after %d entries: %v", last, err)
		}
	}
}

// appendAfterFreeing ends the run as soon as possible, and returns its length.
func appendAfterFreeing(t *testing.T, l *jetstream.Log) int {
	t.Helper()
	var after int
	appends := func() bool {
		after = countAllEntries(t, l)
		_, err := l.Append(t.Context(), "full", uint64(after), largeEntry, runlog.NewEntry(runlog.KindFinished, runlog.Finished{}))
		return err == nil
	}
	if !programtest.Poll(appends) {
		t.Fatal("appends still fail")
	}
	return after + 2
}

func countAllEntries(t *testing.T, l runlog.Log) (n int) {
	t.Helper()
	for batch, err := range l.Read(t.Context(), "full", 0) {
		if n += len(batch); err != nil {
			t.Fatal(err)
		}
	}
	return n
}
