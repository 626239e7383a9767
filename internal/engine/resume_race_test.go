package engine_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// readHookLog is a log that calls a function when it is read from the
// beginning.
type readHookLog struct {
	runlog.Log
	onRead atomic.Pointer[func(ctx context.Context)]
}

func (g *readHookLog) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		if f := g.onRead.Load(); f != nil && after == 0 {
			(*f)(ctx)
		}
		g.Log.Read(ctx, run, after)(yield)
	}
}

// resumeWhile calls a function while an evicted run is being read, and returns
// the run's log.
func resumeWhile(t *testing.T, meanwhile func(b *testEngine, ctx context.Context, id string) (done <-chan none)) []runlog.Kind {
	t.Helper()
	var p twoAskPhoton
	o := testOptions(t, p.newPhoton(true))
	before := openTestEngine(t, o)
	id := before.startRun("patient", "")
	first, _ := before.waitForAsk(id, 0)
	before.closeNow()
	g := &readHookLog{Log: o.Log}
	o.Log = g
	b := openTestEngine(t, o) // which does not resume the run
	finished := make(chan (<-chan none), 1)
	var once sync.Once
	f := func(ctx context.Context) {
		once.Do(func() {
			g.onRead.Store(nil)
			finished <- meanwhile(b, ctx, id)
		})
	}
	g.onRead.Store(&f)
	b.acceptAsk(first, `{"first":"one"}`)
	select {
	case <-<-finished:
	case <-time.After(programtest.WaitTimeout):
		t.Fatal("the function doesn't return")
	}
	return kindsOf(b.entries(id))
}

func startAndYield(f func()) <-chan none {
	done := make(chan none)
	go func() { defer close(done); f() }()
	for range 100 {
		runtime.Gosched() // so that it probably waits for the run
	}
	return done
}

func TestStopWhileRunIsResuming(t *testing.T) {
	got := resumeWhile(t, func(b *testEngine, _ context.Context, id string) <-chan none {
		return startAndYield(func() {
			if err := b.Cancel(t.Context(), me, id, "browser"); err != nil {
				t.Error(err)
			}
		})
	})
	if got[len(got)-1] != runlog.KindFinished || slices.Index(got, runlog.KindFinished) != len(got)-1 {
		t.Errorf("the log is %v", got)
	}
}

// Close doesn't wait for a log that hangs.
func TestCloseWhileRunIsResuming(t *testing.T) {
	for name, hangs := range map[string]bool{"which goes on": false, "which hangs": true} {
		t.Run(name, func(t *testing.T) {
			got := resumeWhile(t, func(b *testEngine, ctx context.Context, id string) <-chan none {
				done := startAndYield(b.closeNow)
				if hangs {
					<-ctx.Done()
				}
				return done
			})
			if slices.Contains(got, runlog.KindFinished) {
				t.Errorf("the log is %v, want no end, because the run is durable", got)
			}
		})
	}
}

// Answers arrive when runs are about to be evicted.
func TestAnswersWhileRunsAreEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true))
		o.Limits = engine.Limits{EvictAfter: time.Second, MaxResident: 5}
		b := openTestEngine(t, o)
		ids := make([]string, 100)
		for i := range ids {
			ids[i] = b.startRun("patient", "")
		}
		synctest.Wait()
		for _, key := range []string{"first", "second"} {
			var wg sync.WaitGroup
			for i, id := range ids {
				info, err := b.Info(me, id)
				if err != nil || len(info.Asks) != 1 {
					t.Fatalf("%+v, %v", info, err)
				}
				wg.Go(func() {
					time.Sleep(time.Duration(i%4) * time.Second) // like the ticks of the eviction
					b.acceptAsk(info.Asks[0].ID, fmt.Sprintf(`{%q:"x"}`, key))
				})
			}
			wg.Wait()
			synctest.Wait()
		}
		for _, id := range ids {
			if f := b.waitForEnd(id); string(f.Result) != `"x x"` {
				t.Errorf("finished = %+v", f)
			}
		}
		if p.steps.Load() != 100 {
			t.Errorf("100 runs executed %d steps", p.steps.Load())
		}
		if p.starts.Load() == 100 {
			t.Error("no run was evicted")
		}
	})
}
