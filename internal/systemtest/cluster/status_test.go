package cluster_test

import (
	"bufio"
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/systemtest/checker"
	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// get returns what a replica serves to whoever accepts a type.
func (c client) get(path, accept string) string {
	c.t.Helper()
	body := c.open(c.t.Context(), path, accept)
	var text strings.Builder
	for body.Scan() {
		text.WriteString(body.Text() + "\n")
	}
	return text.String()
}

// open returns the lines of what a replica serves, as they come.
func (c client) open(ctx context.Context, path, accept string) *bufio.Scanner {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+c.at+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", accept)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	return lines
}

func (c client) status() (s sharing.Status) {
	c.t.Helper()
	c.do("GET", "/replicas", "", &s)
	return s
}

// awaitText waits until what is served has all texts.
func (c client) awaitText(path, accept string, texts ...string) {
	c.t.Helper()
	var served, missing string
	if !programtest.Poll(func() bool {
		served, missing = c.get(path, accept), ""
		for _, text := range texts {
			if !strings.Contains(served, text) {
				missing = text
			}
		}
		return missing == ""
	}) {
		c.t.Errorf("%s lacks %q:\n%s", path, missing, served)
	}
}

// What a replica shows of the others while one of them is killed, and while no photon is left for a run.
func TestReplicasAreShown(t *testing.T) {
	t.Setenv("BEAM_TEST_LEDGER", filepath.Join(t.TempDir(), "ledger"))
	users := writeJSON(t, t.TempDir(), "users.json", checker.UsersFile(map[string]checker.Person{"olga": {Name: "olga", Token: token}}))
	c := startCluster(t, cluster.Options{Args: []string{"--users", users}, Token: "a token of nobody in this test"})
	a, b, third := client{t, c.Replicas[0].Address()}, client{t, c.Replicas[1].Address()}, client{t, c.Replicas[2].Address()}
	id := a.start("deploy")
	asked := b.await(id, "on another replica", asks("approve"))
	heldBy := func() *sharing.Holder {
		var run struct{ Replica *sharing.Holder }
		b.do("GET", "/runs/"+id, "", &run)
		return run.Replica
	}
	if h := heldBy(); h == nil || h.PID != c.Replicas[0].PID() || h.Gone {
		t.Errorf("the run is held by %+v", h)
	}
	if !programtest.Poll(func() bool { return len(b.status().Replicas) == 3 }) {
		t.Fatalf("it sees %+v", b.status())
	}
	b.awaitText("/metrics", "text/plain", `beam_replicas{state="alive"} 3`, `beam_replicas{state="gone"} 0`, "beam_runs_held 0", "beam_store_up 1", "beam_replica_lease_age_seconds ")
	a.awaitText("/metrics", "text/plain", "beam_runs_held 1")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	page := b.open(ctx, "/updates?page=replicas", "text/event-stream")
	if err := c.Replicas[0].Kill(); err != nil {
		t.Fatal(err)
	}
	for page.Scan() && !strings.Contains(page.Text(), "Gone") {
	}
	if err := page.Err(); err != nil {
		t.Errorf("the page doesn't show that a replica is gone: %v", err)
	}
	if s := b.status(); s.Adrift != 1 || len(s.Unclaimable) > 0 {
		t.Errorf("while the run waits, the status is %+v", s)
	}
	third.answer(asked)
	b.await(id, "after the answer", asks("announce"))
	if !programtest.Poll(func() bool { h := heldBy(); return h != nil && !h.Gone && h.PID != c.Replicas[0].PID() }) {
		t.Errorf("the run is held by %+v", heldBy())
	}
	b.awaitText("/replicas", "text/html", "Gone", "None: each unfinished run can go on.")
	b.awaitText("/metrics", "text/plain", `beam_replicas{state="alive"} 2`, `beam_replicas{state="gone"} 1`)

	other := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-ldflags", "-X main.version=gone", "-o", other, "github.com/photon-beam/beam/internal/systemtest/upgrade/program").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, r := range c.Replicas[1:] {
		if err := r.Terminate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.Replicas[1].Program = other
	if err := c.Replicas[1].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.awaitText("/replicas", "text/html", `href="/runs?tool=deploy"`, "No replica that is alive has this photon.")
	b.awaitText("/metrics", "text/plain", `beam_runs_unclaimable{photon="deploy"} 1`)
}
