package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/engine"
)

// A run is forked while the program is killed. Each request makes one fork, however often it is
// repeated; each fork takes the steps and the answer up to its point, asks what comes after it,
// and completes.
func TestKilledForks(t *testing.T) {
	times, seed := killCount(t), killSeed(t)
	t.Logf("BEAM_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	ledger := filepath.Join(dir, "ledger")
	t.Setenv("BEAM_TEST_LEDGER", ledger)
	p := &program{t: t, bin: buildVersion(t, "first"), data: filepath.Join(dir, "data"), args: []string{"--evict-after", "20ms"}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(times)*5*time.Second)
	defer cancel()
	p.start()
	t.Cleanup(func() { p.kill() })
	c := newClient(t, p)
	origin := c.start(ctx, "deploy", `{"env":"prod"}`)
	c.awaitState(ctx, origin, func(s runState) bool { return len(s.Asks) == 1 })
	c.answerSome(ctx, []string{origin}, 0, 1)
	until := c.awaitState(ctx, origin, func(s runState) bool { return len(s.Asks) == 1 }).Last
	var mu sync.Mutex
	forks := map[string]bool{}
	for kill := range times {
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				key := fmt.Sprintf("fork %d-%d", kill, n)
				id := c.fork(ctx, origin, until, key)
				if again := c.fork(ctx, origin, until, key); again != id {
					t.Errorf("one request made the forks %s and %s", id, again)
				}
				mu.Lock()
				defer mu.Unlock()
				forks[id] = true
			})
		}
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond) // so that it is killed at random times
		p.kill()
		p.start()
		all.Wait()
	}
	for id := range forks {
		c.completeDeploy(ctx, id)
	}
	var info struct{ Forks []string }
	if err := json.Unmarshal([]byte(c.get(ctx, "/runs/"+origin, "Accept", "application/json")), &info); err != nil || len(forks) != 4*times || len(info.Forks) != min(len(forks), engine.MaxListedForks) {
		t.Errorf("%d requests made %d forks, of which %d are listed; %v", 4*times, len(forks), len(info.Forks), err)
	}
	p.kill()
	raw, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if plans, applied := strings.Count(string(raw), " plan "), strings.Count(string(raw), " apply "); plans != 1 || applied != 1 {
		t.Errorf("the steps that forks take ran %d and %d times", plans, applied)
	}
}

// fork forks a run. The request is repeated, with its key, until its response is read whole.
func (c *client) fork(ctx context.Context, run string, until int, key string) (id string) {
	var status string
	for ctx.Err() == nil {
		r, err := c.doRetrying(ctx, http.MethodPost, "/runs/"+run+"/fork", fmt.Sprintf(`{"until":%d}`, until), "Idempotency-Key", key, "Accept", "application/json")
		if err != nil {
			break
		}
		var fork struct{ ID string }
		err = json.NewDecoder(r.Body).Decode(&fork)
		r.Body.Close()
		status = r.Status
		if err == nil && fork.ID != "" {
			return fork.ID
		}
	}
	c.t.Errorf("the fork %q isn't made: %s, %v", key, status, ctx.Err())
	return ""
}

// completeDeploy answers the questions of a run until it has completed.
func (c *client) completeDeploy(ctx context.Context, id string) {
	c.t.Helper()
	c.awaitState(ctx, id, func(s runState) bool {
		c.answerSome(ctx, []string{id}, 0, 1)
		return s.State == "completed"
	})
}
