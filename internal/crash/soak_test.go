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

// How the program is soaked: SOAK_MINUTES, without which it isn't, and SOAK_RATE,
// the runs that begin in a second.
func soakFor(t *testing.T) (d time.Duration, rate int) {
	minutes, err := strconv.ParseFloat(os.Getenv("SOAK_MINUTES"), 64)
	if err != nil || minutes <= 0 {
		t.Skip("SOAK_MINUTES says for how long")
	}
	rate = 200
	if n, err := strconv.Atoi(os.Getenv("SOAK_RATE")); err == nil && n > 0 {
		rate = n
	}
	return time.Duration(minutes * float64(time.Minute)), rate
}

// settled is how long it takes until as many runs are deleted as end: finished
// runs are kept for a minute, and looked through every quarter of one.
const settled = 90 * time.Second

// sessions are so many owners.
const sessions = 4

// atOnce are the most runs that go on at the same time: who waits for slow ones
// doesn't make them slower.
const atOnce = 1000

// The program takes runs for a long time: what it holds in memory and on disk
// must not rise for ever once finished runs are deleted as others end.
func TestSoak(t *testing.T) {
	d, rate := soakFor(t)
	p := &program{t: t, bin: built(t), data: filepath.Join(t.TempDir(), "data")}
	p.start()
	l := &load{t: t, p: p}
	for range sessions {
		l.clients = append(l.clients, session(t, p))
	}
	watched := newLevels(p)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { l.drive(ctx, rate) })
	watch(t, ctx, watched)
	all.Wait()
	t.Logf("%d runs ended in %s, %.0f a second; a run took %s in the mean%s", l.ended.Load(), d,
		float64(l.ended.Load())/d.Seconds(), time.Duration(l.took.Load()/max(1, l.quick.Load())).Round(time.Microsecond), watched.table())
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Error("the program ended with", err)
	}
	if watched.unknown != "" {
		t.Log("the goroutines are not known:", watched.unknown)
	}
	if got := float64(l.ended.Load()) / d.Seconds(); got < 0.95*float64(rate) {
		t.Errorf("%.0f runs ended a second, of %d that were to", got, rate)
	}
	if d/2 < settled {
		t.Logf("too short to judge by: finished runs go after %s, and the second half of the time has to come after that", settled)
	} else {
		judge(t, watched)
	}
	check(t, filepath.Join(p.data, "log"), l.last())
}

// watch samples until ctx ends.
func watch(t *testing.T, ctx context.Context, l *levels) {
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

func judge(t *testing.T, l *levels) {
	for _, v := range l.all {
		if by, tooMuch := v.rises(); tooMuch {
			t.Errorf("%s: still rising, by %.1f over the second half", v.name, by/v.unit)
		}
	}
}

// session is a client with a session of its own.
func session(t *testing.T, p *program) *http.Client {
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

// A load is the runs that clients start, follow and answer.
type load struct {
	t       *testing.T
	p       *program
	clients []*http.Client
	n       int
	ended   atomic.Int64
	took    atomic.Int64 // nanoseconds, of those that nobody thinks about
	quick   atomic.Int64

	mu      sync.Mutex
	results map[string]string // of wizards that ended of late
	older   map[string]string
	turned  time.Time
}

// drive begins runs at a rate until ctx ends, and returns when all have ended.
func (l *load) drive(ctx context.Context, rate int) {
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, atOnce)
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
		for due := int(time.Since(began).Seconds() * float64(rate)); l.n < due; l.n++ {
			n := l.n
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			all.Go(func() { l.play(n); <-places })
		}
	}
}

// play runs the nth run. Most ask once; of each hundred, five are wizards, which
// ask three times and have a step, five tell a hundred events, and one person
// thinks for twenty seconds.
func (l *load) play(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := &client{t: l.t, p: l.p, http: l.clients[n%sessions], told: map[string]string{}}
	photon, args := "ask_user_preferences", "{}"
	switch n % 100 {
	case 10, 30, 50, 70, 90:
		photon = "wizard"
	case 20, 40, 60, 80, 99:
		photon, args = "burst", `{"events":100}`
	case 0:
		c.thinks = 20 * time.Second
	}
	began := time.Now()
	id, result, err := c.play(ctx, photon, args, fmt.Sprint("soak ", n))
	if err != nil {
		l.t.Errorf("run %d, %s: %v", n, id, err)
		return
	}
	if c.thinks == 0 {
		l.took.Add(int64(time.Since(began)))
		l.quick.Add(1)
	}
	l.ended.Add(1)
	if photon == "wizard" {
		l.keep(id, result)
	}
}

// keep remembers the results of the last half minute: older runs may be deleted.
func (l *load) keep(id, result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.turned) > 15*time.Second {
		l.results, l.older, l.turned = make(map[string]string), l.results, time.Now()
	}
	l.results[id] = result
}

// last are the results that are kept of late.
func (l *load) last() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, result := range l.older {
		l.results[id] = result
	}
	return l.results
}
