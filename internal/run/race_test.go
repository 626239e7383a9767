package run_test

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

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// gate is a log that says when it is read from the beginning.
type gate struct {
	log.Log
	reading atomic.Pointer[func(ctx context.Context)]
}

func (g *gate) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]log.Entry, error] {
	return func(yield func([]log.Entry, error) bool) {
		if f := g.reading.Load(); f != nil && after == 0 {
			(*f)(ctx)
		}
		g.Log.Read(ctx, run, after)(yield)
	}
}

// warming has something done while a cold run is read back, and returns its log.
func warming(t *testing.T, meanwhile func(b *bench, ctx context.Context, id string) (done <-chan none)) []log.Kind {
	t.Helper()
	var p patient
	o := options(t, p.photon(true))
	before := open(t, o)
	id := before.start("patient", "")
	first, _ := before.asked(id, 0)
	before.close()
	g := &gate{Log: o.Log}
	o.Log = g
	b := open(t, o) // it stays cold
	finished := make(chan (<-chan none), 1)
	var once sync.Once
	f := func(ctx context.Context) {
		once.Do(func() {
			g.reading.Store(nil)
			finished <- meanwhile(b, ctx, id)
		})
	}
	g.reading.Store(&f)
	b.accept(first, `{"first":"one"}`)
	select {
	case <-<-finished:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
	return kinds(b.entries(id))
}

func while(f func()) <-chan none {
	done := make(chan none)
	go func() { defer close(done); f() }()
	for range 100 {
		runtime.Gosched() // it comes to wait for the run, as likely as not
	}
	return done
}

func TestAStopWhileARunIsReadBack(t *testing.T) {
	got := warming(t, func(b *bench, _ context.Context, id string) <-chan none {
		return while(func() {
			if err := b.Cancel(t.Context(), me, id); err != nil {
				t.Error(err)
			}
		})
	})
	if got[len(got)-1] != log.KindFinished || slices.Index(got, log.KindFinished) != len(got)-1 {
		t.Errorf("the log is %v", got)
	}
}

// Closing doesn't wait for a log that hangs.
func TestACloseWhileARunIsReadBack(t *testing.T) {
	for name, hangs := range map[string]bool{"which goes on": false, "which hangs": true} {
		t.Run(name, func(t *testing.T) {
			got := warming(t, func(b *bench, ctx context.Context, id string) <-chan none {
				done := while(b.close)
				if hangs {
					<-ctx.Done()
				}
				return done
			})
			if slices.Contains(got, log.KindFinished) {
				t.Errorf("the log is %v: a durable run waits for the next process", got)
			}
		})
	}
}

// Answers come in the very moments at which runs are let go.
func TestAnswersWhileRunsAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		o := options(t, p.photon(true))
		o.Limits = run.Limits{HotFor: time.Second, HotMax: 5}
		b := open(t, o)
		ids := make([]string, 100)
		for i := range ids {
			ids[i] = b.start("patient", "")
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
					time.Sleep(time.Duration(i%4) * time.Second) // as the ticks of the cooling do
					b.accept(info.Asks[0].ID, fmt.Sprintf(`{%q:"x"}`, key))
				})
			}
			wg.Wait()
			synctest.Wait()
		}
		for _, id := range ids {
			if f := b.finished(id); string(f.Result) != `"x x"` {
				t.Errorf("finished = %+v", f)
			}
		}
		if p.stepped.Load() != 100 {
			t.Errorf("100 runs did %d steps", p.stepped.Load())
		}
		if p.begun.Load() == 100 {
			t.Error("no run was let go")
		}
	})
}
