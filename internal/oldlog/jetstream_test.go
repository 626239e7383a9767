package oldlog_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/programtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// These tests compare what the package reads with what the log itself yields, and make
// the archives. They go when the log goes; the archives stay.

const messages = "jetstream/$G/streams/runs/msgs"

func openJetStream(t testing.TB, dir string) *jetstream.Log {
	t.Helper()
	l, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir, SyncInterval: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// copyFolder copies the folder of an open log, which leaves the copy as a killed process
// would. It repeats that until nothing changed meanwhile.
func copyFolder(t testing.TB, dir string) string {
	t.Helper()
	for {
		to := filepath.Join(t.TempDir(), "log")
		before := listFiles(t, dir)
		err := os.CopyFS(to, os.DirFS(dir))
		if after := listFiles(t, dir); before == after && !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				t.Fatal(err)
			}
			return to
		}
	}
}

func listFiles(t testing.TB, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				fmt.Fprintln(&list, path, info.Size(), info.ModTime().UnixNano())
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// wantSame checks that a folder, as a killed process would leave it, yields what its open
// log yields. (Opened after a kill, the log itself may bring deleted runs back.) If the
// folder is refused because deleted messages are back, it must yield the others.
func wantSame(t testing.TB, dir string, l *jetstream.Log) {
	t.Helper()
	dir = copyFolder(t, dir)
	want := readAll(t, l)
	f, err := oldlog.OpenDamaged(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, r := readAll(t, f), f.Report()
	if r.Returned > 0 {
		t.Logf("%v", r.Damage)
		got = slices.DeleteFunc(got, func(a string) bool { return !slices.Contains(want, a) })
	} else if r.Damage != nil {
		t.Fatal(r.Damage)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d appends, want %d", len(got), len(want))
	}
}

// wantSameClosed is wantSame for the folder of a log that was closed.
func wantSameClosed(t testing.TB, dir string) {
	t.Helper()
	got := readAll(t, mustOpen(t, dir))
	l := openJetStream(t, copyFolder(t, dir))
	defer l.Close()
	if want := readAll(t, l); !slices.Equal(got, want) {
		t.Fatalf("%d appends, want %d", len(got), len(want))
	}
}

// A workload appends to runs and deletes some.
type workload struct {
	*rand.Rand
	t    testing.TB
	log  *jetstream.Log
	last map[string]uint64 // by run
}

var ids = []string{"7f3c", "a.b", "*", ">", "", "ü ö", "=7f3c", "deleted-_9", strings.Repeat("x", 300), "r1", "r2", "r3", "r4"}

// step appends to a run, or now and then deletes it.
func (w *workload) step(size int) {
	w.t.Helper()
	run := ids[w.IntN(len(ids))]
	if w.IntN(12) == 0 {
		w.delete(run)
		return
	}
	var all []runlog.Entry
	for range 1 + w.IntN(4) {
		e := runlog.Entry{Kind: "status", Data: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":%q}`, w.IntN(1000), strings.Repeat("x", w.IntN(size))))}
		switch w.IntN(5) {
		case 0:
			e = runlog.Entry{Kind: "table", Blob: fmt.Sprintf("%064x", w.Uint64())}
		case 1:
			e.Goroutine, e.Step = "left", "plan"
		case 2:
			e = runlog.Entry{Kind: runlog.KindFinished, Time: time.Unix(w.Int64N(1e9), 5)}
		}
		all = append(all, e)
	}
	last, err := w.log.Append(w.t.Context(), run, w.last[run], all...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.last[run] = last
}

func (w *workload) delete(run string) {
	w.t.Helper()
	if err := w.log.Delete(w.t.Context(), run); err != nil {
		w.t.Fatal(err)
	}
	delete(w.last, run)
}

// TestSameAsJetStream compares folders of many kinds, also of logs that are open, as a
// killed process leaves them.
func TestSameAsJetStream(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for name, size := range map[string]int{"small": 100, "many blocks": 400_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := &workload{Rand: rand.New(rand.NewPCG(*seed, uint64(size))), t: t, last: make(map[string]uint64)}
			for range rounds {
				w.log = openJetStream(t, dir)
				for n := range 60 {
					if w.step(size); n%20 == 10 {
						wantSame(t, dir, w.log)
					}
				}
				w.log.Close()
				wantSameClosed(t, dir)
			}
			w.log = openJetStream(t, dir)
			for _, run := range ids {
				w.delete(run)
			}
			wantSame(t, dir, w.log)
			w.log.Close()
			wantSameClosed(t, dir)
		})
	}
}

// TestTornEnd cuts the last record at each of its bytes.
func TestTornEnd(t *testing.T) {
	dir := t.TempDir()
	w := &workload{Rand: rand.New(rand.NewPCG(7, 8)), t: t, log: openJetStream(t, dir), last: make(map[string]uint64)}
	for range 40 {
		w.step(20)
	}
	want := readAll(t, w.log)
	path := filepath.Join(messages, "1.blk")
	before, err := os.Stat(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.log.Append(t.Context(), "torn", 0, runlog.Entry{Kind: "status"}); err != nil {
		t.Fatal(err)
	}
	dir = copyFolder(t, dir)
	after, err := os.Stat(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	for size := after.Size() - 1; size >= before.Size(); size-- {
		if err := os.Truncate(filepath.Join(dir, path), size); err != nil {
			t.Fatal(err)
		}
		f := mustOpen(t, dir)
		if got := readAll(t, f); !slices.Equal(got, want) || f.Report().TornBytes != size-before.Size() {
			t.Fatalf("%d bytes more: %d appends, want %d; %+v", size-before.Size(), len(got), len(want), f.Report())
		}
	}
}

// TestDroppedTombstones checks that runs stay deleted although the server has dropped
// their tombstones, as it does for the first messages of a block; also after a kill,
// where the server itself brings them back. What can't be told is refused.
func TestDroppedTombstones(t *testing.T) {
	dir := t.TempDir()
	l := openJetStream(t, dir)
	dropTombstones(t, l, dir)
	fresh := copyFolder(t, dir) // the server has not recorded its state yet
	l.Close()
	wantSameClosed(t, dir)
	want := readAll(t, mustOpen(t, dir))
	l = openJetStream(t, dir)
	if _, err := l.Append(t.Context(), "after", 0, runlog.Entry{Kind: "status"}); err != nil {
		t.Fatal(err)
	}
	killed := copyFolder(t, dir)
	if got := readAll(t, mustOpen(t, killed)); len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("killed, it yields %d appends, want %d", len(got), len(want)+1)
	}
	wantSame(t, killed, openJetStream(t, killed)) // which brings them back, and counts them

	if _, err := oldlog.Open(fresh); !errors.Is(err, oldlog.ErrCorrupt) || !strings.Contains(err.Error(), "had been deleted") {
		t.Errorf("got %v", err)
	}
	f, err := oldlog.OpenDamaged(fresh)
	if err != nil || f.Report().Returned != 10 || f.Count() != len(want)+10 {
		t.Errorf("got %d appends, %+v, %v", f.Count(), f.Report(), err)
	}
}

// dropTombstones deletes ten runs at the beginning of the first of several blocks, and
// makes the server drop their tombstones from a later block.
func dropTombstones(t testing.TB, l *jetstream.Log, dir string) {
	t.Helper()
	text := json.RawMessage(`"` + strings.Repeat("x", 100_000) + `"`)
	start := func(n int) {
		if _, err := l.Append(t.Context(), fmt.Sprint("run", n), 0, runlog.Entry{Kind: "status", Data: text}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(n int) {
		if err := l.Delete(t.Context(), fmt.Sprint("run", n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 120 {
		start(n)
	}
	for n := range 10 {
		remove(n)
	}
	for n := 120; n < 180; n++ {
		start(n)
	}
	for n := 85; n < 150; n++ {
		remove(n)
	}
	compacted := func() bool {
		info, err := os.Stat(filepath.Join(dir, messages, "3.blk"))
		return err == nil && info.Size() < 3<<20
	}
	if !programtest.Poll(compacted) {
		t.Fatal("the block isn't compacted")
	}
}

// TestOldProgramRefuses checks that the log refuses a folder whose format was raised,
// and accepts it once restored.
func TestOldProgramRefuses(t *testing.T) {
	dir := unpack(t, "stopped")
	if err := oldlog.RaiseFormat(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := jetstream.Open(t.Context(), jetstream.Options{Dir: dir}); !errors.Is(err, jetstream.ErrNewerFormat) {
		t.Errorf("the old program says %v", err)
	}
	if err := oldlog.RestoreFormat(dir); err != nil {
		t.Fatal(err)
	}
	wantContents(t, readAll(t, openJetStream(t, dir)), expected(t, "stopped"))
}

var seed = flag.Uint64("seed", 7, "of the random workload")
