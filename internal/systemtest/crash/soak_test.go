//go:build linux

package crash

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// SOAK_MINUTES is how long the soak test runs; without it, the test is skipped.
// SOAK_RATE is the number of runs started each second.
func soakSettings(t *testing.T) (d time.Duration, rate int) {
	minutes, err := strconv.ParseFloat(os.Getenv("SOAK_MINUTES"), 64)
	if err != nil || minutes <= 0 {
		t.Skip("set SOAK_MINUTES to run this test")
	}
	rate = 200
	if n, err := strconv.Atoi(os.Getenv("SOAK_RATE")); err == nil && n > 0 {
		rate = n
	}
	return time.Duration(minutes * float64(time.Minute)), rate
}

// retentionDelay is the time after which runs are deleted as fast as others end: they
// are kept for a minute, and deleted every 15 seconds.
const retentionDelay = 90 * time.Second

// sessionCount is the number of sessions, each of which is an owner.
const sessionCount = 4

// maxConcurrentRuns bounds the runs in progress, so that waiting for slow ones
// doesn't make them slower.
const maxConcurrentRuns = 1000

// The program handles runs for a long time. Once finished runs are deleted as fast as
// others end, its use of memory and disk must not keep growing.
func TestSoak(t *testing.T) {
	d, rate := soakSettings(t)
	p := &program{t: t, bin: buildProgram(t), data: filepath.Join(t.TempDir(), "data")}
	p.start()
	l := &loadGenerator{t: t, program: p}
	for range sessionCount {
		l.clients = append(l.clients, newSession(t, p))
	}
	watched := newResourceSampler(p)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { l.generate(ctx, rate) })
	sampleUntilDone(t, ctx, watched)
	all.Wait()
	t.Logf("%d runs ended in %s, %.0f per second; a run took %s on average%s", l.ended.Load(), d,
		float64(l.ended.Load())/d.Seconds(), time.Duration(l.quickTime.Load()/max(1, l.quickRuns.Load())).Round(time.Microsecond), watched.table())
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Error("the program ended with", err)
	}
	if watched.goroutinesError != "" {
		t.Log("goroutines weren't measured:", watched.goroutinesError)
	}
	if got := float64(l.ended.Load()) / d.Seconds(); got < 0.95*float64(rate) {
		t.Errorf("%.0f runs ended per second, want %d", got, rate)
	}
	if d/2 < retentionDelay {
		t.Logf("too short to detect growth: the second half of the time must be after %s, when finished runs are deleted", retentionDelay)
	} else {
		checkGrowth(t, watched)
	}
	checkLog(t, p.data, l.recentResults())
}

// sampleUntilDone samples until ctx ends.
func sampleUntilDone(t *testing.T, ctx context.Context, l *resourceSampler) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := l.sample(); err != nil {
			t.Error("measuring:", err)
			return
		}
	}
}

func checkGrowth(t *testing.T, l *resourceSampler) {
	for _, v := range l.series {
		if by, tooMuch := v.growth(); tooMuch {
			t.Errorf("%s: still rising, by %.1f over the second half", v.name, by/v.unit)
		}
	}
}

// newSession returns a client with a session of its own.
func newSession(t *testing.T, p *program) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 500}}
	r, err := c.Get("http://" + p.addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return c
}

// A loadGenerator starts, follows and answers runs as clients do.
type loadGenerator struct {
	t         *testing.T
	program   *program
	clients   []*http.Client
	started   int
	ended     atomic.Int64
	quickTime atomic.Int64 // total nanoseconds of runs without a delayed answer
	quickRuns atomic.Int64

	mu           sync.Mutex
	results      map[string]string // of wizards that ended recently
	olderResults map[string]string
	rotatedAt    time.Time
}

// generate starts runs at a rate until ctx ends, and returns when all have
// ended.
func (l *loadGenerator) generate(ctx context.Context, rate int) {
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, maxConcurrentRuns)
	const step = 20 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); l.started < due; l.started++ {
			n := l.started
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			all.Go(func() { l.completeRun(n); <-places })
		}
	}
}

// completeRun runs the nth run. Most ask one question. Of each hundred, five are
// wizards with three questions and a step, five report a hundred events, and one is
// answered after twenty seconds.
func (l *loadGenerator) completeRun(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := &client{t: l.t, program: l.program, http: l.clients[n%sessionCount], eventData: map[string]string{}}
	photon, args := "ask_user_preferences", "{}"
	switch n % 100 {
	case 10, 30, 50, 70, 90:
		photon = "wizard"
	case 20, 40, 60, 80, 99:
		photon, args = "burst", `{"events":100}`
	case 0:
		c.thinkTime = 20 * time.Second
	}
	began := time.Now()
	id, result, err := c.completeRun(ctx, photon, args, fmt.Sprint("soak ", n))
	if err != nil {
		l.t.Errorf("run %d, %s: %v", n, id, err)
		return
	}
	if c.thinkTime == 0 {
		l.quickTime.Add(int64(time.Since(began)))
		l.quickRuns.Add(1)
	}
	l.ended.Add(1)
	if photon == "wizard" {
		l.addResult(id, result)
	}
}

// addResult keeps the results of the last half minute: older runs may have been
// deleted.
func (l *loadGenerator) addResult(id, result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.rotatedAt) > 15*time.Second {
		l.results, l.olderResults, l.rotatedAt = make(map[string]string), l.results, time.Now()
	}
	l.results[id] = result
}

// recentResults returns the results that are kept.
func (l *loadGenerator) recentResults() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, result := range l.olderResults {
		l.results[id] = result
	}
	return l.results
}
