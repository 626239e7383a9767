// Package crash tests what Beam keeps when its process is killed at random times, when
// the disk is full, and when it runs for long.
package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/checker"
	"github.com/photon-beam/beam/internal/systemtest/checker/photons"
	"github.com/photon-beam/beam/internal/testserver"
)

// killCount returns how often to kill the program. BEAM_KILLS overrides the default.
func killCount(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("BEAM_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 3
	}
	return 100
}

// killSeed returns the seed of what the clients do and of when the program is killed: that of
// BEAM_SEED, or a new one.
func killSeed(t *testing.T) uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("BEAM_SEED"), 10, 64); err == nil {
		return seed
	}
	return uint64(time.Now().UnixNano())
}

// The checker's clients use a program that is killed again and again, and sometimes ends as it
// should, or is paused, while runs are deleted and backups written. Nothing is lost, doubled or leaked, in the
// folder or in the last backup.
func TestKilledRepeatedly(t *testing.T) {
	times, seed := killCount(t), killSeed(t)
	t.Logf("BEAM_SEED=%d", seed)
	k := newKillTest(t, seed)
	k.program.start()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(times)*5*time.Second)
	defer cancel()
	var all sync.WaitGroup
	const clients = 40
	all.Go(func() { k.checker.Run(ctx, clients) })
	all.Go(func() { k.checker.CheckInboxes(ctx) })
	stop := make(chan struct{})
	all.Go(func() { k.keepBackingUp(ctx, stop) })
	random := rand.New(rand.NewPCG(seed, 0))
	for range times {
		time.Sleep(200*time.Millisecond + time.Duration(random.IntN(600))*time.Millisecond) // so that it is killed at random times
		switch random.IntN(4) {
		case 0:
			k.interrupt(true)
		case 1:
			k.pause()
		}
		k.interrupt(false)
	}
	close(stop)
	k.checker.Stop()
	all.Wait()
	k.checkEnd(ctx, t)
	t.Logf("%d kills, %d stops, %d pauses, %d backups, %d runs in the last: %s", times, k.stops, k.pauses, k.backups, k.restored, k.checker.Figures())
}

// A killTest is a program and the clients that check it.
type killTest struct {
	t       *testing.T
	program *program
	checker *checker.Checker
	stops   int // besides kills
	pauses  int

	dir      string
	backups  int
	last     string           // the last backup
	lastRead checker.Snapshot // before that
	restored int
}

func newKillTest(t *testing.T, seed uint64) *killTest {
	dir := t.TempDir()
	k := &killTest{t: t, dir: dir, program: &program{t: t, bin: buildPhotons(t), data: filepath.Join(dir, "data")}}
	upstream, err := testserver.New(testserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	upstreamServer := httptest.NewServer(upstream)
	t.Cleanup(upstreamServer.Close)
	ledger := httptest.NewUnstartedServer(nil)
	ledger.Start()
	t.Cleanup(ledger.Close)
	const keepFor = 30 * time.Second
	people := map[string]checker.Person{}
	for _, name := range []string{"ada", "dan", photons.Approver, "eve", "olga"} {
		people[name] = checker.Person{Name: name, Token: "token-of-" + name + "-that-is-long-enough"}
	}
	k.program.args = []string{
		"--users", writeJSON(t, dir, "users.json", checker.UsersFile(people)), "--keep-for", keepFor.String(), "--evict-after", "300ms",
		"--mcp-config", writeJSON(t, dir, "mcp.json", map[string]any{"mcpServers": map[string]any{"test": map[string]string{"url": upstreamServer.URL}}}),
	}
	k.program.start()
	t.Cleanup(func() { k.program.kill() })
	k.program.kill()
	k.checker = checker.New(checker.Options{
		Base: "http://" + k.program.addr, Owners: []checker.Person{people["ada"], people["dan"]}, Approver: people[photons.Approver],
		Operator: people["olga"], Stranger: people["eve"], KeepFor: keepFor, Upstream: "test", Ledger: ledger.URL, Seed: seed, Errorf: t.Errorf,
	})
	ledger.Config.Handler = k.checker
	return k
}

func writeJSON(t *testing.T, dir, name string, content any) (path string) {
	t.Helper()
	raw, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// interrupt kills the program, or stops it as it should be if gently, and starts it again.
func (k *killTest) interrupt(gently bool) {
	k.checker.Interrupt(func() {
		if !gently {
			k.program.kill()
			return
		}
		k.stops++
		if err := k.program.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			k.t.Error(err)
		}
		if err := k.program.cmd.Wait(); err != nil {
			k.t.Error("the program, stopped, ends with", err)
		}
	})
	k.program.start()
}

// pause lets the program stand still, as a machine that sleeps does.
func (k *killTest) pause() {
	k.pauses++
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := k.program.cmd.Process.Signal(sig); err != nil {
			k.t.Error(err)
		}
		time.Sleep(300 * time.Millisecond) // while it is paused, and after that
	}
}

// keepBackingUp writes backups. One that is interrupted leaves nothing of its name.
func (k *killTest) keepBackingUp(ctx context.Context, stop chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(300 * time.Millisecond): // no more often, so that runs can be deleted in between
		}
		read, file := k.checker.Snapshot(), filepath.Join(k.dir, fmt.Sprint("backup ", n))
		out, err := exec.CommandContext(ctx, k.program.bin, "backup", file, "--data", k.program.data).CombinedOutput()
		if err != nil {
			if _, err := os.Stat(file); err == nil {
				k.t.Errorf("a backup fails, and leaves a file: %s", out)
			}
			continue
		}
		if k.last != "" {
			os.Remove(k.last)
		}
		k.backups, k.last, k.lastRead = k.backups+1, file, read
	}
}

// checkEnd checks what is left at the end, and once more after a kill, and what the last backup
// has.
func (k *killTest) checkEnd(ctx context.Context, t *testing.T) {
	for range 2 {
		if err := k.checker.CheckEnd(ctx); err != nil {
			t.Error(err)
		}
		k.program.kill()
		k.program.start()
	}
	k.program.kill()
	if keys, err := os.ReadDir(filepath.Join(k.program.data, "keys")); err != nil || len(keys) > 0 {
		t.Errorf("all runs have ended, and there are %d keys of their secrets; %v", len(keys), err)
	}
	checkLog(t, k.program.data, nil)
	if k.last == "" {
		t.Error("no backup was written")
		return
	}
	again := &program{t: t, bin: k.program.bin, addr: k.program.addr, data: filepath.Join(k.dir, "restored"), args: append(k.program.args, "--keep-for", "24h")}
	if out, err := exec.CommandContext(ctx, again.bin, "restore", k.last, "--data", again.data).CombinedOutput(); err != nil {
		t.Fatalf("the backup isn't restored: %v: %s", err, out)
	}
	again.start()
	defer again.kill()
	var err error
	if k.restored, err = k.checker.CheckRestored(ctx, k.lastRead); err != nil {
		t.Error(err)
	}
}
