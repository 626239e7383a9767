package jetstream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// writerDirVar, if set, makes this program append to a log until it is killed.
const writerDirVar = "BEAM_TEST_WRITER_FOLDER"

func TestMain(m *testing.M) {
	dir := os.Getenv(writerDirVar)
	if phase := os.Getenv(phaseVar); phase != "" {
		n, _ := strconv.Atoi(os.Getenv("BEAM_BENCH_RUNS"))
		if err := measurePhase(phase, dir, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir != "" {
		fmt.Fprintln(os.Stderr, appendForever(dir, os.Getenv("BEAM_TEST_WRITER_SYNC") != ""))
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(fixtureDir)
	os.Exit(status)
}

// ackedAppend is the data of the writer's entries: the entry's ordinal, and the first
// and last ordinal of its append.
type ackedAppend struct{ N, First, Last uint64 }

// appendForever appends to random runs, and prints each acknowledged append.
func appendForever(dir string, always bool) error {
	l, err := jetstream.Open(context.Background(), jetstream.Options{Dir: dir, SyncAlways: always})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for {
				run := fmt.Sprintf("w%d-%d", w, rand.Uint64())
				if err := appendRun(l, run, 1+rand.IntN(60)); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

func appendRun(l *jetstream.Log, run string, appends int) error {
	last := uint64(0)
	for range appends {
		batch := make([]runlog.Entry, 1+rand.IntN(9))
		for i := range batch {
			batch[i] = runlog.NewEntry("status", ackedAppend{last + uint64(i) + 1, last + 1, last + uint64(len(batch))})
		}
		var err error
		if last, err = l.Append(context.Background(), run, last, batch...); err != nil {
			return err
		}
		if _, err := fmt.Printf("%s %d\n", run, last); err != nil {
			return err
		}
	}
	return nil
}

// TestKill checks that after kill -9 at any moment, the log contains all acknowledged
// appends and no part of another, and accepts further appends. The kernel has what
// the process wrote, so SyncAlways makes no difference here.
func TestKill(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for name, env := range map[string]string{"interval": "", "always": "1"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			acknowledged := make(map[string]uint64)
			for range rounds {
				writeAndKill(t, dir, env, acknowledged)
				checkAfterKill(t, dir, acknowledged)
			}
		})
	}
}

func writeAndKill(t *testing.T, dir, always string, acknowledged map[string]uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerDirVar+"="+dir, "BEAM_TEST_WRITER_SYNC="+always)
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
		if _, err := fmt.Sscan(lines.Text(), &run, &last); err == nil {
			acknowledged[run] = max(acknowledged[run], last)
		}
	}
	_ = cmd.Wait() // it was killed
	if n == 0 || said.Len() > 0 {
		t.Fatalf("it acknowledged %d appends, and said %s", n, said.String())
	}
}

func checkAfterKill(t *testing.T, dir string, acknowledged map[string]uint64) {
	t.Helper()
	l := openLog(t, jetstream.Options{Dir: dir})
	defer l.Close()
	found := make(map[string]uint64)
	for a, err := range l.Scan(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range a.Entries {
			var n ackedAppend
			if err := json.Unmarshal(e.Data, &n); err != nil || n.N != e.Seq || e.Seq != found[a.Run]+1 {
				t.Fatalf("run %s: entry %d after %d is %s (%v)", a.Run, e.Seq, found[a.Run], e.Data, err)
			}
			if n.First != a.Entries[0].Seq || n.Last != a.Entries[len(a.Entries)-1].Seq {
				t.Fatalf("run %s: %s stands in the append %d to %d", a.Run, e.Data, a.Entries[0].Seq, a.Entries[len(a.Entries)-1].Seq)
			}
			found[a.Run] = e.Seq
		}
	}
	for run, last := range acknowledged {
		if found[run] < last {
			t.Errorf("run %s has %d entries, and %d were acknowledged", run, found[run], last)
		}
	}
	for run, last := range found {
		if _, err := l.Append(t.Context(), run, last, runlog.NewEntry("status", ackedAppend{last + 1, last + 1, last + 1})); err != nil {
			t.Errorf("appending failed: %v", err)
		}
		acknowledged[run] = last + 1
		break
	}
	t.Logf("%d runs, %d of them acknowledged", len(found), len(acknowledged))
}
