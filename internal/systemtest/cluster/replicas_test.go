package cluster_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

const token = "a token of the tests, at least 16 bytes"

// The packages of programs: the one that is upgraded in other tests, and Beam.
const (
	upgraded = "github.com/photon-beam/beam/internal/systemtest/upgrade/program"
	beam     = "github.com/photon-beam/beam/cmd/beam"
)

func build(t testing.TB, program string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", file, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// startCluster starts replicas of a program, which o names by its package; by default, of the one
// that is upgraded.
func startCluster(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	o.Program, o.Token, o.Output = build(t, cmp.Or(o.Program, upgraded)), token, t.Output()
	c, err := cluster.Start(t.Context(), o)
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
	return c
}

// A browser sends requests to one address.
type client struct {
	t  testing.TB
	at string
}

func (c client) do(method, path, body string, result any) (status int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.at+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if result != nil {
		if err := json.NewDecoder(bytes.NewReader(raw)).Decode(result); err != nil {
			c.t.Fatalf("%s %s: %s %s: %v", method, path, response.Status, raw, err)
		}
	}
	return response.StatusCode
}

type info struct {
	ID, State string
	Asks      []struct{ ID, Key string }
}

func (c client) start(photon string) (id string) {
	c.t.Helper()
	var run info
	c.do("POST", "/photons/"+photon+"/runs", `{"env":"prod"}`, &run)
	return run.ID
}

func (c client) await(id string, what string, is func(info) bool) (i info) {
	c.t.Helper()
	if !programtest.Poll(func() bool { i = info{}; c.do("GET", "/runs/"+id, "", &i); return is(i) }) {
		c.t.Fatalf("%s: run %s is %+v", what, id, i)
	}
	return i
}

func (c client) answer(i info) {
	c.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{%q:"ada"}}}`, i.Asks[0].ID, i.Asks[0].Key)
	if status := c.do("POST", "/mcp/request", body, nil); status != http.StatusAccepted {
		c.t.Fatalf("the answer at %s has status %d", c.at, status)
	}
}

func asks(key string) func(info) bool {
	return func(i info) bool { return len(i.Asks) == 1 && i.Asks[0].Key == key }
}

// A run is started on one replica and answered on another. The one that holds it is killed; a third
// one goes on with it, and runs no recorded step again.
func TestRunMovesBetweenReplicas(t *testing.T) {
	ledger := filepath.Join(t.TempDir(), "ledger")
	t.Setenv("BEAM_TEST_LEDGER", ledger)
	c := startCluster(t, cluster.Options{})
	var at []client
	for _, r := range c.Replicas {
		at = append(at, client{t, r.Address()})
	}
	id := at[0].start("deploy")
	at[1].answer(at[1].await(id, "on another replica", asks("approve")))
	asked := at[2].await(id, "after the answer", asks("announce"))
	if err := c.Replicas[0].Kill(); err != nil { // which holds the run
		t.Fatal(err)
	}
	at[1].answer(asked)
	killed := time.Now()
	at[2].await(id, "after its replica was killed", func(i info) bool { return i.State == "completed" })
	t.Logf("it went on after %v", time.Since(killed).Round(time.Millisecond))
	raw, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(raw, []byte("\n")); lines != 2 {
		t.Errorf("the steps ran %d times: %s", lines, raw)
	}
}

// A replica that is terminated hands its runs over at once.
func TestTerminatedReplicaHandsOver(t *testing.T) {
	c := startCluster(t, cluster.Options{})
	a, b := client{t, c.Replicas[0].Address()}, client{t, c.Replicas[1].Address()}
	id := a.start("deploy")
	asked := a.await(id, "it waits", asks("approve"))
	began := time.Now()
	if err := c.Replicas[0].Terminate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := time.Since(began)
	b.answer(asked)
	b.await(id, "on another replica", asks("announce"))
	t.Logf("the replica ended after %v, and the run went on after %v", ended, time.Since(began))
}
