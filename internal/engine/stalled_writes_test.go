package engine_test

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
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A fullDiskLog is a log that can be made to fail as on a full disk.
type fullDiskLog struct {
	runlog.Log
	isFull atomic.Bool
}

func (l *fullDiskLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if l.isFull.Load() && len(entries) > 0 {
		return 0, runlog.ErrDiskFull
	}
	return l.Log.Append(ctx, run, after, entries...)
}

// openOnFullDisk opens an engine with a fullDiskLog.
func openOnFullDisk(t *testing.T, photons ...*generators.Photon) (*testEngine, *fullDiskLog, engine.Options) {
	t.Helper()
	o := testOptions(t, photons...)
	l := &fullDiskLog{Log: o.Log}
	o.Log = l
	return openTestEngine(t, o), l, o
}

// newPacedPhoton returns a photon that records one entry for each signal of the test.
func newPacedPhoton(next <-chan none, effects *atomic.Int64, o *generators.Options) *generators.Photon {
	return newPhoton("paced", func(_ context.Context, yield generators.Yield) (string, error) {
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

var pacedKinds = []runlog.Kind{"started", "claimed", "status", "artifact", "stepped", "asked", "answered", "finished"}

// When the disk is full, a tool waits with whatever it is about to record until there
// is space again, and then continues.
func TestFullDiskStallsTools(t *testing.T) {
	for n := range 5 {
		synctest.Test(t, func(t *testing.T) {
			next := make(chan none)
			var effects atomic.Int64
			b, l, _ := openOnFullDisk(t, newPacedPhoton(next, &effects, nil))
			id := b.startRun("paced", "")
			for i := range 5 {
				time.Sleep(time.Second) // beyond the flush interval of the event before
				l.isFull.Store(i == n)
				next <- none{}
				synctest.Wait()
				before := b.entries(id)
				time.Sleep(10 * time.Minute)
				if after := b.entries(id); i == n && len(after) != len(before) {
					t.Errorf("at %d, an entry was recorded on a full disk: %v", n, kindsOf(after))
				}
				l.isFull.Store(false)
				time.Sleep(time.Minute)
				synctest.Wait()
				if i == 3 {
					askID, _ := b.waitForAsk(id, 0)
					b.acceptAsk(askID, `{"name":"Ada"}`)
				}
			}
			if f := b.waitForEnd(id); string(f.Result) != `"Hello, Ada"` {
				t.Errorf("full at %d: finished = %+v", n, f)
			}
			if got := kindsOf(b.entries(id)); !slices.Equal(got, pacedKinds) || effects.Load() != 1 {
				t.Errorf("full at %d: log = %v, and %d effects", n, got, effects.Load())
			}
		})
	}
}

// Requests are rejected while the disk is full, and change nothing.
func TestFullDiskRefusesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l, _ := openOnFullDisk(t, greeter)
		id := b.startRun("greeter", "")
		askID, _ := b.waitForAsk(id, 0)
		l.isFull.Store(true)
		if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "greeter"}); !errors.Is(err, runlog.ErrDiskFull) {
			t.Errorf("starting a run: %v", err)
		}
		if err := settleAskBy["answered"](b, askID); !errors.Is(err, runlog.ErrDiskFull) {
			t.Errorf("answering: %v", err)
		}
		if _, err := b.OpenAsk(t.Context(), me, askID); err != nil || b.CountOpenAsks(me) != 1 || len(b.Runs(me, 0, nil)) != 1 {
			t.Errorf("the question is no longer open: %v", err)
		}
		l.isFull.Store(false)
		b.acceptAsk(askID, `{"name":"Ada"}`)
		if f := b.waitForEnd(id); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
	})
}

// A stalledRun is a run of [newPacedPhoton] that can't record an entry.
type stalledRun struct {
	*testEngine
	log     *fullDiskLog
	options engine.Options
	id      string
	next    chan none
	effects atomic.Int64
}

// stallRun fills the disk of a run that has recorded n entries, and lets it try the next.
func stallRun(t *testing.T, n int) *stalledRun {
	t.Helper()
	s := &stalledRun{next: make(chan none)}
	s.testEngine, s.log, s.options = openOnFullDisk(t, newPacedPhoton(s.next, &s.effects, &generators.Options{Durable: true}))
	s.id = s.startRun("paced", "")
	for i := range n {
		s.next <- none{}
		time.Sleep(time.Second) // in a bubble
		if i == 3 {
			askID, _ := s.waitForAsk(s.id, 0)
			s.acceptAsk(askID, `{"name":"Ada"}`)
		}
	}
	s.log.isFull.Store(true)
	s.next <- none{}
	time.Sleep(time.Minute) // in a bubble
	return s
}

// A stop ends a tool at once, even if it can't be recorded yet. It is recorded when
// there is space again.
func TestStopOnFullDisk(t *testing.T) {
	for n := range 5 {
		synctest.Test(t, func(t *testing.T) {
			s := stallRun(t, n)
			b, l, id := s.testEngine, s.log, s.id
			if err := b.Cancel(t.Context(), me, id, "browser"); !errors.Is(err, runlog.ErrDiskFull) {
				t.Errorf("a stop that can't be recorded: %v", err)
			}
			close(s.next)
			synctest.Wait()
			if n < 2 && s.effects.Load() > 0 {
				t.Error("the tool continued after it was stopped")
			}
			l.isFull.Store(false)
			time.Sleep(time.Minute)
			synctest.Wait()
			if f := b.waitForEnd(id); f.Status != runlog.Stopped {
				t.Errorf("at %d: finished = %+v", n, f)
			}
			if b.CountOpenAsks(me) != 0 {
				t.Errorf("at %d, a question is still open: %v", n, kindsOf(b.entries(id)))
			}
		})
	}
}

// Close ends stalled runs, too. Durable ones are resumed by the next process, which
// doesn't repeat steps whose outcome was recorded.
func TestCloseOnFullDisk(t *testing.T) {
	for n := range 5 {
		synctest.Test(t, func(t *testing.T) {
			s := stallRun(t, n)
			close(s.next)
			s.closeNow()
			again := openTestEngine(t, s.options) // on a disk that is still full
			time.Sleep(10 * time.Minute)
			s.log.isFull.Store(false)
			time.Sleep(2 * time.Minute)
			if f := again.answerUntilEnd(s.id); string(f.Result) != `"Hello, Ada"` {
				t.Errorf("at %d: finished = %+v", n, f)
			}
			if got := kindsOf(withoutClaims(again.entries(s.id))); !slices.Equal(got, slices.Delete(slices.Clone(pacedKinds), 1, 2)) {
				t.Errorf("at %d: log = %v", n, got)
			}
			want := int64(1)
			if n == 2 {
				want = 2 // it was closed between the effect and its record
			}
			if got := s.effects.Load(); got != want {
				t.Errorf("at %d: %d effects, want %d", n, got, want)
			}
		})
	}
}

// If the disk is full after a restart, runs that aren't durable are marked interrupted
// when there is space again.
func TestRestartOnFullDiskInterruptsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPhoton("fleeting", func(_ context.Context, yield generators.Yield) (string, error) {
			return ask.Text(yield, "name", "Name?")
		}, nil)
		b, l, o := openOnFullDisk(t, p)
		id := b.startRun("fleeting", "")
		b.waitForAsk(id, 0)
		l.isFull.Store(true)
		b.closeNow()
		again := openTestEngine(t, o)
		if info, err := again.Info(me, id); err != nil || info.State != engine.Waiting {
			t.Errorf("after the restart: %+v, %v", info, err)
		}
		l.isFull.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := again.waitForEnd(id); f.Status != runlog.Interrupted || again.CountOpenAsks(me) != 0 {
			t.Errorf("finished = %+v, and %d questions are open", f, again.CountOpenAsks(me))
		}
	})
}

// Neither a tool's time limit nor the deadline of a question runs while the
// disk is full.
func TestTimeLimitPausesOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan none)
		p := newPhoton("brief", func(_ context.Context, yield generators.Yield) (string, error) {
			<-next
			return ask.Text(yield, "name", "Name?", ask.Timeout(time.Minute))
		}, &generators.Options{TimeLimit: time.Minute})
		b, l, _ := openOnFullDisk(t, p)
		id := b.startRun("brief", "")
		l.isFull.Store(true)
		next <- none{}
		time.Sleep(time.Hour)
		l.isFull.Store(false)
		time.Sleep(30 * time.Second)
		askID, _ := b.waitForAsk(id, 0)
		b.acceptAsk(askID, `{"name":"Ada"}`)
		if f := b.waitForEnd(id); f.Status != runlog.Completed || time.Duration(f.TimeSpent)*time.Millisecond > 2*time.Second {
			t.Errorf("finished = %+v", f)
		}
	})
}

// The stall is logged once, not for each run.
func TestStalledWritesAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan none)
		o := testOptions(t, newPacedPhoton(next, new(atomic.Int64), nil))
		l, messages := &fullDiskLog{Log: o.Log}, &logMessages{}
		o.Log, o.Logger = l, messages.logger()
		b := openTestEngine(t, o)
		for range 10 {
			b.startRun("paced", "")
		}
		l.isFull.Store(true)
		for range 10 {
			next <- none{}
		}
		time.Sleep(time.Hour)
		l.isFull.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"runs are stalled: the log can't be written", "runs are no longer stalled"}
		if got := messages.all(); !slices.Equal(got, want) {
			t.Errorf("logged: %q", got)
		}
		close(next)
	})
}

// If an expiry can't be recorded, the question keeps its deadline.
func TestExpiryThatFailsKeepsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		b, l, _ := openOnFullDisk(t, p.newPhoton(true, ask.Timeout(time.Minute)))
		askID, _ := b.waitForAsk(b.startRun("patient", ""), 0)
		before, err := b.OpenAsk(t.Context(), me, askID)
		if err != nil {
			t.Fatal(err)
		}
		l.isFull.Store(true)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		after, err := b.OpenAsk(t.Context(), me, askID)
		if err != nil || !after.Deadline.Equal(before.Deadline) {
			t.Errorf("the deadline is %v, and was %v; %v", after.Deadline, before.Deadline, err)
		}
		l.isFull.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if b.CountOpenAsks(me) != 0 {
			t.Error("the question is still open")
		}
	})
}
