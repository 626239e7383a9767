// Package crash tests what Beam keeps when its process is killed at random times, when
// the disk is full, and when it runs for long.
package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// killCount returns how often to kill the program. BEAM_KILLS overrides the default.
func killCount(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("BEAM_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 2
	}
	return 100
}

// newMoments returns the source of the moments at which the program is killed. BEAM_SEED is its
// seed, which is logged.
func newMoments(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("BEAM_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Log("seed", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestKilledRepeatedly(t *testing.T) {
	times := killCount(t)
	moments := newMoments(t)
	p := &program{t: t, bin: buildProgram(t), data: filepath.Join(t.TempDir(), "data")}
	p.start()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second+time.Duration(times)*3*time.Second)
	defer cancel()

	const clients = 50
	results := make(map[string]string) // by run
	var mu sync.Mutex
	var over atomic.Bool
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			c := newClient(t, p)
			for i := 0; !over.Load(); i++ {
				id, result, err := c.completeRun(ctx, "wizard", "{}", fmt.Sprintf("client %d wizard %d", n, i))
				if err != nil {
					t.Errorf("client %d, wizard %d, run %s: %v", n, i, id, err)
					return
				}
				mu.Lock()
				if before, again := results[id]; again {
					t.Errorf("run %s was started twice: %s, %s", id, before, result)
				}
				results[id] = result
				mu.Unlock()
			}
		})
	}
	for range times {
		time.Sleep(200*time.Millisecond + time.Duration(moments.Int64N(int64(600*time.Millisecond)))) // so that it is killed at random times
		p.kill()
		p.start()
	}
	over.Store(true)
	all.Wait()
	p.kill()
	t.Logf("%d kills, %d wizards", times, len(results))
	checkLog(t, p.data, results)
}
