package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/systemtest/checker"
	"github.com/photon-beam/beam/internal/systemtest/checker/photons"
	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/logcheck"
	"github.com/photon-beam/beam/internal/testserver"
)

// faultCount returns how many faults to make. BEAM_FAULTS overrides the default.
func faultCount(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("BEAM_FAULTS")); err == nil {
		return n
	}
	if testing.Short() {
		return 4
	}
	return 20
}

// The checker's clients use replicas, through a proxy that sends each request to any of them, while these
// and their database fail in every way that the cluster knows. Nothing is lost or doubled.
func TestFaults(t *testing.T) {
	n, seed := faultCount(t), uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("BEAM_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("BEAM_SEED=%d", seed)
	f := newFaultTest(t, seed)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Duration(n)*40*time.Second)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { f.checker.Run(ctx, 50) })
	all.Go(func() { f.checker.CheckInboxes(ctx) })
	order := f.random.Perm(len(faults))
	for i := range n {
		time.Sleep(time.Duration(500+f.random.IntN(1500)) * time.Millisecond) // so that it happens at random times
		fault := faults[order[i%len(order)]]
		began := time.Now()
		f.checker.Interrupt(func() {
			if err := fault.do(ctx, f); err != nil {
				t.Errorf("%s: %v", fault.name, err)
			}
		})
		t.Logf("fault %d: %s, for %v", i+1, fault.name, time.Since(began).Round(time.Millisecond))
		if ctx.Err() != nil {
			t.Fatal(context.Cause(ctx))
		}
	}
	f.checker.Stop()
	all.Wait()
	if err := f.checker.CheckEnd(ctx); err != nil {
		t.Error(err)
	}
	t.Log(f.checker.Figures())
	s, err := store.OpenPostgres(ctx, f.cluster.Postgres.DSN(), 1, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := logcheck.Check(ctx, s, t.Errorf); err != nil {
		t.Error(err)
	}
	if report, err := s.Check(ctx); err != nil || !report.Whole() {
		t.Errorf("the store has problems: %+v, %v", report, err)
	}
}

// A faultTest is a cluster and the clients that check it.
type faultTest struct {
	cluster *cluster.Cluster
	checker *checker.Checker
	random  *rand.Rand
}

func newFaultTest(t *testing.T, seed uint64) *faultTest {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/photon-beam/beam/internal/systemtest/crash/photons").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	upstream, err := testserver.New(testserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	upstreamServer := httptest.NewServer(upstream)
	t.Cleanup(upstreamServer.Close)
	ledger := httptest.NewUnstartedServer(nil)
	ledger.Start()
	t.Cleanup(ledger.Close)
	people := map[string]checker.Person{}
	for _, name := range []string{"ada", "dan", photons.Approver, "eve", "olga"} {
		people[name] = checker.Person{Name: name, Token: "token-of-" + name + "-that-is-long-enough"}
	}
	args := []string{
		"--users", writeJSON(t, dir, "users.json", checker.UsersFile(people)), "--keep-for", "60s", "--evict-after", "300ms",
		"--mcp-config", writeJSON(t, dir, "mcp.json", map[string]any{"mcpServers": map[string]any{"test": map[string]string{"url": upstreamServer.URL}}}),
		"--log-level", "error",
	}
	c, err := cluster.Start(t.Context(), cluster.Options{Program: bin, Args: args, Token: token, Seed: seed, Postgres: cluster.PostgresOptions{Standby: true}, Output: t.Output()})
	if cluster.IsNotInstalled(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	f := &faultTest{cluster: c, random: rand.New(rand.NewPCG(seed, 0))}
	f.checker = checker.New(checker.Options{
		Base: c.URL, Owners: []checker.Person{people["ada"], people["dan"]}, Approver: people[photons.Approver],
		Operator: people["olga"], Stranger: people["eve"], KeepFor: time.Minute, Upstream: "test", Ledger: ledger.URL, Seed: seed, Errorf: t.Errorf,
	})
	ledger.Config.Handler = f.checker
	return f
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

// A fault is one way in which a cluster fails, and comes back.
type fault struct {
	name string
	do   func(context.Context, *faultTest) error
}

var faults = []fault{
	{"a replica is killed", func(ctx context.Context, f *faultTest) error {
		r := f.anyReplica()
		return errors.Join(r.Kill(), r.Start(ctx))
	}},
	{"a replica is killed, and comes back late", func(ctx context.Context, f *faultTest) error {
		r := f.anyReplica()
		err := r.Kill()
		last(8 * time.Second) // until others have its runs
		return errors.Join(err, r.Start(ctx))
	}},
	{"a replica is terminated", func(ctx context.Context, f *faultTest) error {
		r := f.anyReplica()
		return errors.Join(r.Terminate(ctx), r.Start(ctx))
	}},
	{"all replicas are restarted, one by one", func(ctx context.Context, f *faultTest) (err error) {
		for _, r := range f.cluster.Replicas {
			err = errors.Join(err, r.Terminate(ctx), r.Start(ctx))
		}
		return err
	}},
	{"a replica is frozen for 20 s", func(ctx context.Context, f *faultTest) error {
		r := f.anyReplica()
		err := r.Freeze()
		last(20 * time.Second)
		return errors.Join(err, r.Thaw())
	}},
	{"a replica's connections to the database are cut", func(ctx context.Context, f *faultTest) (err error) {
		links := f.anyLinks()
		for _, l := range links {
			l.Cut()
		}
		last(time.Duration(f.random.IntN(10_000)) * time.Millisecond)
		for _, l := range links {
			err = errors.Join(err, l.Restore())
		}
		return err
	}},
	{"a replica's connections to the database are slow", func(ctx context.Context, f *faultTest) error {
		links := f.anyLinks()
		for _, l := range links {
			l.Delay(300 * time.Millisecond)
		}
		last(3 * time.Second)
		for _, l := range links {
			l.Delay(0)
		}
		return nil
	}},
	{"connections are reset in the middle of a commit", func(ctx context.Context, f *faultTest) error {
		for range 5 {
			for _, l := range f.anyLinks() {
				l.ResetCommit()
			}
			last(200 * time.Millisecond)
		}
		return nil
	}},
	{"connections are reset in the middle of a request", func(ctx context.Context, f *faultTest) error {
		for range 5 {
			for _, l := range f.anyLinks() {
				l.ResetNext()
			}
			last(200 * time.Millisecond)
		}
		return nil
	}},
	{"the primary is killed, and the standby promoted", func(ctx context.Context, f *faultTest) error {
		p := f.cluster.Postgres
		return errors.Join(p.KillPrimary(), p.Promote(ctx), p.AddStandby(ctx))
	}},
	{"the database is restarted", func(ctx context.Context, f *faultTest) error { return f.cluster.Postgres.Restart(ctx) }},
	{"all connections to the database are terminated", func(ctx context.Context, f *faultTest) error {
		_, err := f.cluster.Postgres.TerminateConnections(ctx)
		return err
	}},
	{"the database admits few connections", func(ctx context.Context, f *faultTest) error {
		p := f.cluster.Postgres
		err := p.LimitConnections(ctx, 4)
		_, terminated := p.TerminateConnections(ctx)
		last(4 * time.Second)
		return errors.Join(err, terminated, p.LimitConnections(ctx, -1))
	}},
}

// last lets a fault last.
func last(d time.Duration) { time.Sleep(d) } // nothing tells when it has lasted long enough

func (f *faultTest) anyReplica() *cluster.Replica {
	return f.cluster.Replicas[f.random.IntN(len(f.cluster.Replicas))]
}

func (f *faultTest) anyLinks() []*cluster.Link {
	return f.cluster.Links[f.random.IntN(len(f.cluster.Links))]
}
