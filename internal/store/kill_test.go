package store_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
)

// writerDirVar, if set, makes this program append to a store until it is killed.
const writerDirVar = "BEAM_TEST_WRITER_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDirVar); dir != "" {
		fmt.Fprintln(os.Stderr, appendForever(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// ackedAppend is the data of the writer's entries: the entry's ordinal, and the first and last
// ordinal of its append.
type ackedAppend struct{ N, First, Last uint64 }

// appendForever appends to random runs, deletes some, counts in small state, and prints each
// acknowledged append and number.
func appendForever(dir string) error {
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for {
				run := fmt.Sprintf("w%d-%d", w, rand.Uint64())
				err := appendRun(s, run, 1+rand.IntN(60))
				if err == nil && rand.IntN(4) == 0 {
					_, _ = fmt.Printf("%s 0\n", run) // from here on, it may be gone
					err = s.Delete(context.Background(), run)
				}
				if err != nil {
					failed <- err
				}
			}
		}()
	}
	go func() { failed <- countForever(s.State()) }()
	return <-failed
}

// counted is what stands for the number in small state, which has it twice.
const counted = "counted"

func countForever(s smallstate.Store) error {
	n, err := readCount(s)
	for ; err == nil; n++ {
		var old []byte
		if n > 0 {
			old = strconv.AppendUint(nil, n, 10)
		}
		next := strconv.AppendUint(nil, n+1, 10)
		var applied bool
		applied, err = s.Apply(context.Background(), smallstate.Change{Bucket: "b", Key: "1", Old: old, New: next}, smallstate.Change{Bucket: "b", Key: "2", Old: old, New: next})
		if err == nil && !applied {
			err = errors.New("somebody else counts, too")
		}
		if err == nil {
			_, err = fmt.Printf("%s %d\n", counted, n+1)
		}
	}
	return err
}

func readCount(s smallstate.Store) (n uint64, err error) {
	one, err := s.Get(context.Background(), "b", "1")
	if err != nil || one == nil {
		return 0, err
	}
	two, err := s.Get(context.Background(), "b", "2")
	if err == nil && !bytes.Equal(one, two) {
		err = fmt.Errorf("one is %s, the other %s", one, two)
	}
	n, _ = strconv.ParseUint(string(one), 10, 64)
	return n, err
}

func appendRun(s *store.Store, run string, appends int) error {
	last := uint64(0)
	for range appends {
		batch := make([]runlog.Entry, 1+rand.IntN(9))
		for i := range batch {
			batch[i] = runlog.NewEntry("status", ackedAppend{last + uint64(i) + 1, last + 1, last + uint64(len(batch))})
		}
		var err error
		if last, err = s.Append(context.Background(), run, last, batch...); err != nil {
			return err
		}
		if _, err := fmt.Printf("%s %d\n", run, last); err != nil {
			return err
		}
	}
	return nil
}

// TestKill checks that after kill -9 at any moment, the store has all acknowledged appends and
// no part of another, is whole, and accepts further appends.
func TestKill(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	dir := t.TempDir()
	acknowledged := make(map[string]uint64)
	for range rounds {
		writeAndKill(t, dir, acknowledged)
		checkAfterKill(t, dir, acknowledged)
	}
}

func writeAndKill(t *testing.T, dir string, acknowledged map[string]uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerDirVar+"="+dir)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	lines := bufio.NewScanner(out)
	n := 0
	for ; lines.Scan(); n++ {
		// From the first line on: starting takes how long it takes.
		once.Do(func() {
			time.AfterFunc(time.Duration(rand.Int64N(int64(700*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		})
		var run string
		var last uint64
		if _, err := fmt.Sscan(lines.Text(), &run, &last); err != nil {
			continue
		}
		if last == 0 {
			delete(acknowledged, run)
		} else {
			acknowledged[run] = last
		}
	}
	_ = cmd.Wait() // it was killed
	if n == 0 || said.Len() > 0 {
		t.Fatalf("it acknowledged %d appends, and said %s", n, said.String())
	}
}

func checkAfterKill(t *testing.T, dir string, acknowledged map[string]uint64) {
	t.Helper()
	s := openStore(t, store.Options{Dir: dir})
	defer s.Close()
	found := make(map[string]uint64)
	for run, err := range s.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range s.Read(t.Context(), run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range batch {
				var n ackedAppend
				if err := json.Unmarshal(e.Data, &n); err != nil || n.N != e.Seq || e.Seq != found[run]+1 {
					t.Fatalf("run %s: entry %d after %d is %s (%v)", run, e.Seq, found[run], e.Data, err)
				}
				if found[run] = e.Seq; n.First > e.Seq || n.Last < e.Seq {
					t.Fatalf("run %s: %s is entry %d", run, e.Data, e.Seq)
				}
			}
			if n := (ackedAppend{}); json.Unmarshal(batch[len(batch)-1].Data, &n) != nil || len(batch) < runlog.MaxBatchEntries && n.Last != found[run] {
				t.Fatalf("run %s ends within an append: %+v", run, n)
			}
		}
	}
	n, err := readCount(s.State())
	if err != nil {
		t.Error(err)
	}
	if last := acknowledged[counted]; n < last || n > last+1 {
		t.Errorf("small state has the number %d, and %d was acknowledged", n, last)
	}
	delete(acknowledged, counted)
	for run, last := range acknowledged {
		if found[run] < last {
			t.Errorf("run %s has %d entries, and %d were acknowledged", run, found[run], last)
		}
	}
	for run, last := range found {
		if _, err := s.Append(t.Context(), run, last, runlog.NewEntry("status", ackedAppend{last + 1, last + 1, last + 1})); err != nil {
			t.Errorf("appending failed: %v", err)
		}
		acknowledged[run] = last + 1
		break
	}
	t.Logf("%d runs, %d of them acknowledged", len(found), len(acknowledged))
}

// TestLeaks opens and closes stores: neither goroutines, files nor memory mappings are left.
func TestLeaks(t *testing.T) {
	use := func() {
		s := openStore(t, store.Options{Dir: t.TempDir()})
		for i := range 20 {
			run := fmt.Sprint(i)
			if _, err := s.Append(t.Context(), run, 0, runlog.NewEntry("status", i)); err != nil {
				t.Fatal(err)
			}
			for range s.Read(t.Context(), run, 0) {
				break // the query is left open
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for range s.Follow(ctx, run, 0) {
				break
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	use()
	goroutines, files, mappings := runtime.NumGoroutine(), countFiles(t), countMappings(t)
	for range 10 {
		use()
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines became %d", goroutines, n)
	}
	if n := countFiles(t); n > files {
		t.Errorf("%d open files became %d", files, n)
	}
	if n := countMappings(t); n > mappings+10 { // the runtime's own vary
		t.Errorf("%d memory mappings became %d", mappings, n)
	}
}

func countFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system doesn't list open files")
	}
	return len(all)
}

func countMappings(t *testing.T) int {
	raw, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("this system doesn't list memory mappings")
	}
	return strings.Count(string(raw), "\n")
}
