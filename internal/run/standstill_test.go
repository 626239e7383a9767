package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// full is a log on a disk that is full at times.
type full struct {
	log.Log
	now atomic.Bool
}

func (l *full) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if l.now.Load() && len(entries) > 0 {
		return 0, log.ErrFull
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// onFull opens an engine whose log can be made full.
func onFull(t *testing.T, photons ...*generators.Photon) (*bench, *full, run.Options) {
	t.Helper()
	o := options(t, photons...)
	l := &full{Log: o.Log}
	o.Log = l
	return open(t, o), l, o
}

// paced goes from one thing to record to the next whenever it is told to.
func paced(next <-chan none, effects *atomic.Int64, o *generators.Options) *generators.Photon {
	return photon("paced", func(_ context.Context, yield generators.Yield) (string, error) {
		<-next
		yield(generators.Status("first"))
		<-next
		yield(generators.File("big.txt", "text/plain", []byte(strings.Repeat("x", 100<<10))))
		<-next
		_, err := generators.Step(yield, "count", func(context.Context) (int64, error) { return effects.Add(1), nil })
		if err != nil {
			return "", err
		}
		<-next
		name, err := ask.Text(yield, "name", "Name?")
		if err != nil {
			return "", err
		}
		<-next
		return "Hello, " + name, nil
	}, o)
}

var pacedKinds = []log.Kind{"started", "claimed", "status", "artifact", "stepped", "asked", "answered", "finished"}

// Whatever a tool is about to record when the disk gets full, it waits until
// there is room, and then goes on as if nothing had been.
func TestAFullDiskMakesToolsWait(t *testing.T) {
	for n := range 5 {
		synctest.Test(t, func(t *testing.T) {
			next := make(chan none)
			var effects atomic.Int64
			b, l, _ := onFull(t, paced(next, &effects, nil))
			id := b.start("paced", "")
			for i := range 5 {
				time.Sleep(time.Second) // beyond the frame of the event before
				l.now.Store(i == n)
				next <- none{}
				synctest.Wait()
				before := b.entries(id)
				time.Sleep(10 * time.Minute)
				if after := b.entries(id); i == n && len(after) != len(before) {
					t.Errorf("at %d, something was recorded on a full disk: %v", n, kinds(after))
				}
				l.now.Store(false)
				time.Sleep(time.Minute)
				synctest.Wait()
				if i == 3 {
					askID, _ := b.asked(id, 0)
					b.accept(askID, `{"name":"Ada"}`)
				}
			}
			if f := b.finished(id); string(f.Result) != `"Hello, Ada"` {
				t.Errorf("full at %d: finished = %+v", n, f)
			}
			if got := kinds(b.entries(id)); !slices.Equal(got, pacedKinds) || effects.Load() != 1 {
				t.Errorf("full at %d: log = %v, and %d effects", n, got, effects.Load())
			}
		})
	}
}

// What people do meanwhile is refused, and changes nothing.
func TestAFullDiskRefusesPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l, _ := onFull(t, greeter)
		id := b.start("greeter", "")
		askID, _ := b.asked(id, 0)
		l.now.Store(true)
		if _, err := b.Start(t.Context(), me, run.Request{Photon: "greeter"}); !errors.Is(err, log.ErrFull) {
			t.Errorf("a start: %v", err)
		}
		if err := settlings["answered"](b, askID); !errors.Is(err, log.ErrFull) {
			t.Errorf("an answer: %v", err)
		}
		if _, err := b.Ask(t.Context(), me, askID); err != nil || b.OpenAsks(me) != 1 || len(b.Runs(me, 0, nil)) != 1 {
			t.Errorf("the question is not open any more: %v", err)
		}
		l.now.Store(false)
		b.accept(askID, `{"name":"Ada"}`)
		if f := b.finished(id); f.Status != log.Completed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Stop ends a tool at once though it can't be recorded, and is recorded when
// there is room, whatever was about to be.
func TestAStopOnAFullDisk(t *testing.T) {
	for n := range 5 {
		synctest.Test(t, func(t *testing.T) {
			next := make(chan none)
			var effects atomic.Int64
			b, l, _ := onFull(t, paced(next, &effects, &generators.Options{Durable: true}))
			id := b.start("paced", "")
			for i := range n {
				next <- none{}
				time.Sleep(time.Second)
				if i == 3 {
					askID, _ := b.asked(id, 0)
					b.accept(askID, `{"name":"Ada"}`)
				}
			}
			l.now.Store(true)
			next <- none{}
			time.Sleep(time.Minute)
			if err := b.Cancel(t.Context(), me, id); !errors.Is(err, log.ErrFull) {
				t.Errorf("a stop that can't be recorded: %v", err)
			}
			close(next)
			synctest.Wait()
			if n < 2 && effects.Load() > 0 {
				t.Error("the tool went on after it was stopped")
			}
			l.now.Store(false)
			time.Sleep(time.Minute)
			synctest.Wait()
			if f := b.finished(id); f.Status != log.Stopped {
				t.Errorf("at %d: finished = %+v", n, f)
			}
			if b.OpenAsks(me) != 0 {
				t.Errorf("at %d, a question is open: %v", n, kinds(b.entries(id)))
			}
		})
	}
}

// A close ends those that stand still, too. A durable run is taken up again, and
// a step whose outcome was recorded is not repeated.
func TestACloseOnAFullDisk(t *testing.T) {
	for n := range 5 {
		synctest.Test(t, func(t *testing.T) {
			next := make(chan none)
			var effects atomic.Int64
			b, l, o := onFull(t, paced(next, &effects, &generators.Options{Durable: true}))
			id := b.start("paced", "")
			for i := range n {
				next <- none{}
				time.Sleep(time.Second)
				if i == 3 {
					askID, _ := b.asked(id, 0)
					b.accept(askID, `{"name":"Ada"}`)
				}
			}
			l.now.Store(true)
			next <- none{}
			time.Sleep(time.Minute)
			close(next)
			b.close()
			again := open(t, o) // on a disk that is full still
			time.Sleep(10 * time.Minute)
			l.now.Store(false)
			time.Sleep(2 * time.Minute)
			if f := again.complete(id); string(f.Result) != `"Hello, Ada"` {
				t.Errorf("at %d: finished = %+v", n, f)
			}
			if got := kinds(withoutClaims(again.entries(id))); !slices.Equal(got, slices.Delete(slices.Clone(pacedKinds), 1, 2)) {
				t.Errorf("at %d: log = %v", n, got)
			}
			want := int64(1)
			if n == 2 {
				want = 2 // the close came between the effect and its record
			}
			if got := effects.Load(); got != want {
				t.Errorf("at %d: %d effects, want %d", n, got, want)
			}
		})
	}
}

// A run that isn't durable is marked interrupted, on a disk that is full after
// the restart when there is room.
func TestARestartOnAFullDiskInterruptsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := photon("fleeting", func(_ context.Context, yield generators.Yield) (string, error) {
			return ask.Text(yield, "name", "Name?")
		}, nil)
		b, l, o := onFull(t, p)
		id := b.start("fleeting", "")
		b.asked(id, 0)
		l.now.Store(true)
		b.close()
		again := open(t, o)
		if info, err := again.Info(me, id); err != nil || info.State != run.Waiting {
			t.Errorf("after the restart: %+v, %v", info, err)
		}
		l.now.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := again.finished(id); f.Status != log.Interrupted || again.OpenAsks(me) != 0 {
			t.Errorf("finished = %+v, and %d questions are open", f, again.OpenAsks(me))
		}
	})
}

// Neither a tool's time nor a question's runs while the disk is full.
func TestTimeStandsStillOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan none)
		p := photon("brief", func(_ context.Context, yield generators.Yield) (string, error) {
			<-next
			return ask.Text(yield, "name", "Name?", ask.Timeout(time.Minute))
		}, &generators.Options{TimeLimit: time.Minute})
		b, l, _ := onFull(t, p)
		id := b.start("brief", "")
		l.now.Store(true)
		next <- none{}
		time.Sleep(time.Hour)
		l.now.Store(false)
		time.Sleep(30 * time.Second)
		askID, _ := b.asked(id, 0)
		b.accept(askID, `{"name":"Ada"}`)
		if f := b.finished(id); f.Status != log.Completed || time.Duration(f.Spent)*time.Millisecond > 2*time.Second {
			t.Errorf("finished = %+v", f)
		}
	})
}

// The operator is told once, and not by every run.
func TestAStandstillIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan none)
		o := options(t, paced(next, new(atomic.Int64), nil))
		l, told := &full{Log: o.Log}, &texts{}
		o.Log, o.Logger = l, told.logger()
		b := open(t, o)
		for range 10 {
			b.start("paced", "")
		}
		l.now.Store(true)
		for range 10 {
			next <- none{}
		}
		time.Sleep(time.Hour)
		l.now.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"runs stand still: what they do can't be recorded now", "no run stands still any more"}
		if got := told.all(); !slices.Equal(got, want) {
			t.Errorf("logged: %q", got)
		}
		close(next)
	})
}

// A deadline that has passed and can't be recorded stays what it was.
func TestADeadlineThatCantBeRecordedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patient
		b, l, _ := onFull(t, p.photon(true, ask.Timeout(time.Minute)))
		askID, _ := b.asked(b.start("patient", ""), 0)
		before, err := b.Ask(t.Context(), me, askID)
		if err != nil {
			t.Fatal(err)
		}
		l.now.Store(true)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		after, err := b.Ask(t.Context(), me, askID)
		if err != nil || !after.Deadline.Equal(before.Deadline) {
			t.Errorf("the deadline is %v, and was %v; %v", after.Deadline, before.Deadline, err)
		}
		l.now.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if b.OpenAsks(me) != 0 {
			t.Error("the question is open still")
		}
	})
}
