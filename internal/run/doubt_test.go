package run_test

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

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// texts keeps what is logged.
type texts struct {
	slog.Handler
	mu   sync.Mutex
	said []string
}

func (x *texts) logger() *slog.Logger                     { return slog.New(x) }
func (x *texts) Enabled(context.Context, slog.Level) bool { return true }
func (x *texts) Handle(_ context.Context, r slog.Record) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.said = append(x.said, r.Message)
	return nil
}

func (x *texts) all() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.said)
}

// doubtful is a log that doesn't say of one append what became of it, and takes
// none for a while after it.
type doubtful struct {
	log.Log
	left atomic.Int64 // appends until then
	kept bool         // the append was recorded all the same
	down atomic.Bool
}

func (l *doubtful) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	if l.down.Load() {
		return 0, log.ErrUnavailable
	}
	if len(entries) == 0 || l.left.Add(-1) != 0 {
		return l.Log.Append(ctx, run, after, entries...)
	}
	if l.kept {
		if last, err := l.Log.Append(ctx, run, after, entries...); err != nil {
			return last, err
		}
	}
	l.down.Store(true)
	time.AfterFunc(time.Minute, func() { l.down.Store(false) })
	return 0, errors.Join(log.ErrInDoubt, log.ErrFull)
}

// Whichever append of a run is in doubt, and whether it was recorded or not, the
// run comes to its end by the same entries: nothing is doubled, nothing lost.
func TestAnAppendInDoubt(t *testing.T) {
	for _, kept := range []bool{false, true} {
		for n := int64(1); inDoubt(t, kept, n); n++ {
			if n > 50 {
				t.Fatal("there is no end to the appends")
			}
		}
	}
}

// inDoubt tells whether there was an append with that number.
func inDoubt(t *testing.T, kept bool, n int64) (reached bool) {
	synctest.Test(t, func(t *testing.T) {
		var effects atomic.Int64
		o := options(t, stepper(&effects))
		l := &doubtful{Log: o.Log, kept: kept}
		l.left.Store(n)
		o.Log = l
		b := open(t, o)
		id := b.patientStart("stepper")
		b.answerPatiently(id)
		reached = l.left.Load() <= 0
		if f := b.finished(id); f.Status != log.Completed {
			t.Errorf("append %d (recorded: %v): finished = %+v", n, kept, f)
		}
		got := kinds(b.entries(id))
		slices.Sort(got)
		want := []log.Kind{
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
		if runs != 1 || len(b.Runs(me, 0, nil)) != 1 || b.OpenAsks(me) != 0 {
			t.Errorf("append %d (recorded: %v): %d logs of one run, %d open questions", n, kept, runs, b.OpenAsks(me))
		}
	})
	return reached
}

// patientStart starts a run, again if it is refused for the moment.
func (b *bench) patientStart(photon string) string {
	b.t.Helper()
	for {
		info, err := b.Start(b.t.Context(), me, run.Request{Photon: photon, Idempotency: "once"})
		switch {
		case err == nil:
			time.Sleep(2 * time.Minute) // until what was refused is gone
			return info.ID
		case !errors.Is(err, log.ErrInDoubt) && !errors.Is(err, log.ErrUnavailable):
			b.t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // in a bubble
	}
}

// answerPatiently answers what a run asks until it has ended, as people do who
// are told to try again.
func (b *bench) answerPatiently(id string) {
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
			answer := ask.Answer{Action: ask.Accept, Content: json.RawMessage(answers[key])}
			if err := b.Answer(b.t.Context(), me, open.ID, answer, "test"); err != nil && !errors.Is(err, run.ErrSettled) &&
				!errors.Is(err, log.ErrInDoubt) && !errors.Is(err, log.ErrUnavailable) {
				b.t.Fatal(err)
			}
		}
	}
	b.t.Fatalf("the run doesn't end: %v", kinds(b.entries(id)))
}
