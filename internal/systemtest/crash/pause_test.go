package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A runState is what the JSON of a run says of its state.
type runState struct {
	State, QueuedFor string
	Last             int
	Wakes            time.Time
	Asks             []struct{ ID string }
}

// readState returns the state of a run.
func (c *client) readState(ctx context.Context, id string) (s runState) {
	c.t.Helper()
	r, err := c.doRetrying(ctx, "GET", "/runs/"+id, "", "Accept", "application/json")
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil || r.StatusCode != http.StatusOK {
		c.t.Fatal(r.Status, err)
	}
	return s
}

// awaitState reads the state of a run until it is as wanted.
func (c *client) awaitState(ctx context.Context, id string, wanted func(runState) bool) (s runState) {
	c.t.Helper()
	for s = c.readState(ctx, id); !wanted(s); s = c.readState(ctx, id) {
		select {
		case <-ctx.Done():
			c.t.Fatalf("run %s is %+v", id, s)
		case <-time.After(10 * time.Millisecond): // the program tells nobody but streams
		}
	}
	return s
}

func (c *client) start(ctx context.Context, photon, args string) (id string) {
	c.t.Helper()
	r, err := c.doRetrying(ctx, "POST", "/photons/"+photon+"/runs", args)
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	var started struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&started); err != nil || started.ID == "" {
		c.t.Fatal(r.Status, err)
	}
	return started.ID
}

// startPhotons starts the program with the photons that pause.
func startPhotons(t *testing.T) (*program, *client, context.Context) {
	p := &program{t: t, bin: buildPhotons(t), data: filepath.Join(t.TempDir(), "data")}
	p.start()
	t.Cleanup(p.kill)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return p, newClient(t, p), ctx
}

// startNap starts a run that sleeps, and returns until when. If it has slept before that is
// known, which takes long on a busy machine, startNap starts another one, that sleeps longer.
func (c *client) startNap(ctx context.Context, millis int) (id string, wakes time.Time) {
	c.t.Helper()
	for ; ; millis *= 2 {
		id := c.start(ctx, "nap", fmt.Sprintf(`{"millis":%d}`, millis))
		s := c.awaitState(ctx, id, func(s runState) bool { return s.State == "sleeping" || s.State == "completed" })
		if s.State == "sleeping" {
			return id, s.Wakes
		}
	}
}

// A run that sleeps when its program is killed wakes at the recorded time, or right after
// the restart if that has passed.
func TestKilledWhileRunsSleep(t *testing.T) {
	p, c, ctx := startPhotons(t)
	long := c.start(ctx, "nap", `{"millis":86400000}`)
	longEnd := c.awaitState(ctx, long, func(s runState) bool { return s.State == "sleeping" }).Wakes
	short, shortEnd := c.startNap(ctx, 1200)
	p.kill()
	time.Sleep(time.Until(shortEnd)) // the program is down when the sleep ends
	p.start()
	up := time.Now()
	c.awaitState(ctx, short, func(s runState) bool { return s.State == "completed" })
	if took := time.Since(up); took > programtest.ExitTimeout {
		t.Errorf("the run has ended %s after the restart", took)
	}
	if s := c.readState(ctx, long); s.State != "sleeping" || !s.Wakes.Equal(longEnd) {
		t.Errorf("the other run is %s until %s, and was to sleep until %s", s.State, s.Wakes, longEnd)
	}
	awake := c.start(ctx, "nap", `{"millis":300}`)
	c.awaitState(ctx, awake, func(s runState) bool { return s.State == "completed" })
}

// The runs that wait for a key keep their order when the program is killed.
func TestKilledWhileRunsQueue(t *testing.T) {
	p, c, ctx := startPhotons(t)
	var ids []string
	for range 4 {
		ids = append(ids, c.start(ctx, "lock", `{"key":"prod"}`))
	}
	for n, id := range ids {
		p.kill()
		p.start()
		asking := c.awaitState(ctx, id, func(s runState) bool { return s.State == "waiting" })
		for _, later := range ids[n+1:] {
			if s := c.readState(ctx, later); s.State != "running" || s.QueuedFor != "prod" {
				t.Errorf("run %s is %+v", later, s)
			}
		}
		r, err := c.doRetrying(ctx, "POST", "/mcp/request", `{"jsonrpc":"2.0","id":"`+asking.Asks[0].ID+`","result":{"action":"accept","content":{"word":"go"}}}`)
		if err != nil || r.StatusCode != http.StatusAccepted {
			t.Fatal(r, err)
		}
		r.Body.Close()
		c.awaitState(ctx, id, func(s runState) bool { return s.State == "completed" })
	}
}
