package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// logMessages collects log messages.
type logMessages struct {
	slog.Handler
	mu       sync.Mutex
	messages []string
}

func (x *logMessages) logger() *slog.Logger                     { return slog.New(x) }
func (x *logMessages) Enabled(context.Context, slog.Level) bool { return true }
func (x *logMessages) Handle(_ context.Context, r slog.Record) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.messages = append(x.messages, r.Message)
	return nil
}

func (x *logMessages) all() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.messages)
}

// An uncertainLog is a log that fails one append with ErrUncertain, and then all others
// for a while.
type uncertainLog struct {
	runlog.Log
	appendsLeft atomic.Int64 // successful appends before that
	recorded    bool         // whether the uncertain append was recorded
	unavailable atomic.Bool
}

func (l *uncertainLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if l.unavailable.Load() {
		return 0, runlog.ErrUnavailable
	}
	if len(entries) == 0 || l.appendsLeft.Add(-1) != 0 {
		return l.Log.Append(ctx, run, after, entries...)
	}
	if l.recorded {
		if last, err := l.Log.Append(ctx, run, after, entries...); err != nil {
			return last, err
		}
	}
	l.unavailable.Store(true)
	time.AfterFunc(time.Minute, func() { l.unavailable.Store(false) })
	return 0, errors.Join(runlog.ErrUncertain, runlog.ErrDiskFull)
}

// Whichever append of a run is uncertain, and whether or not it was recorded,
// the run reaches its end with the same entries: none is recorded twice, and
// none is lost.
func TestUncertainAppend(t *testing.T) {
	for _, kept := range []bool{false, true} {
		for n := int64(1); checkUncertainAppend(t, kept, n); n++ {
			if n > 50 {
				t.Fatal("the number of appends has no end")
			}
		}
	}
}

// checkUncertainAppend runs a photon whose nth append is uncertain. It returns false if
// there was no such append.
func checkUncertainAppend(t *testing.T, kept bool, n int64) (reached bool) {
	synctest.Test(t, func(t *testing.T) {
		var effects atomic.Int64
		o := testOptions(t, newStepperPhoton(&effects))
		l := &uncertainLog{Log: o.Log, recorded: kept}
		l.appendsLeft.Store(n)
		o.Log = l
		b := openTestEngine(t, o)
		id := b.startRetrying("stepper")
		b.answerRetrying(id)
		reached = l.appendsLeft.Load() <= 0
		if f := b.waitForEnd(id); f.Status != runlog.Completed {
			t.Errorf("append %d (recorded: %v): finished = %+v", n, kept, f)
		}
		got := kindsOf(b.entries(id))
		slices.Sort(got)
		want := []runlog.Kind{
			"answered", "answered", "answered", "answered", "asked", "asked", "asked", "asked", "claimed", "finished",
			"progress", "started", "status", "status", "status", "status", "status", "stepped", "stepped", "stepped",
		}
		if !slices.Equal(got, want) {
			t.Errorf("append %d (recorded: %v): log = %v", n, kept, got)
		}
		if effects.Load() != 2 {
			t.Errorf("append %d (recorded: %v): %d effects, want 2", n, kept, effects.Load())
		}
		runs := 0
		for range b.log.Runs(t.Context()) {
			runs++
		}
		if runs != 1 || len(b.Runs(me, 0, nil)) != 1 || b.CountOpenAsks(me) != 0 {
			t.Errorf("append %d (recorded: %v): %d logs of one run, %d open questions", n, kept, runs, b.CountOpenAsks(me))
		}
	})
	return reached
}

// startRetrying starts a run, and retries if it is refused temporarily.
func (b *testEngine) startRetrying(photon string) string {
	b.t.Helper()
	for {
		info, err := b.Start(b.t.Context(), me, engine.StartRequest{Photon: photon, IdempotencyKey: "once"})
		switch {
		case err == nil:
			time.Sleep(2 * time.Minute) // until the refused start has been deleted
			return info.ID
		case !errors.Is(err, runlog.ErrUncertain) && !errors.Is(err, runlog.ErrUnavailable):
			b.t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // in a bubble
	}
}

// answerRetrying answers a run's questions until it has ended. Like a person,
// it retries an answer that is refused temporarily.
func (b *testEngine) answerRetrying(id string) {
	b.t.Helper()
	for range 100 {
		time.Sleep(10 * time.Second) // in a bubble
		info, err := b.Info(me, id)
		if err != nil {
			b.t.Fatal(err)
		}
		if info.State.Ended() {
			return
		}
		for _, open := range info.Asks {
			key, _, _ := strings.Cut(open.Key, "#")
			answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(answerByKey[key])}
			if err := b.Answer(b.t.Context(), me, open.ID, answer, "test"); err != nil && !errors.Is(err, engine.ErrSettled) &&
				!errors.Is(err, runlog.ErrUncertain) && !errors.Is(err, runlog.ErrUnavailable) {
				b.t.Fatal(err)
			}
		}
	}
	b.t.Fatalf("the run doesn't end: %v", kindsOf(b.entries(id)))
}
