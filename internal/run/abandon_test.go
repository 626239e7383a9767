package run_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// deserted starts a run that waits, abandons it for ten minutes, and tells after
// nine what state it is in twelve minutes later.
func deserted(t *testing.T, meanwhile func(t *testing.T, b *bench, id, askID string)) (info run.Info) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, twice)
		id := b.start("twice", "")
		askID, _ := b.asked(id, 0)
		if err := b.Abandon(me, id, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		meanwhile(t, b, id, askID)
		synctest.Wait()
		if now, err := b.Info(me, id); err != nil || now.State == run.Stopped {
			t.Errorf("after nine minutes: %+v, %v", now, err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		var err error
		if info, err = b.Info(me, id); err != nil {
			t.Fatal(err)
		}
	})
	return info
}

func TestARunThatNobodyComesBackToIsStopped(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile func(t *testing.T, b *bench, id, askID string)
		want      run.State
	}{
		"nobody came":             {func(*testing.T, *bench, string, string) {}, run.Stopped},
		"somebody came":           {func(_ *testing.T, b *bench, id, _ string) { b.Keep(me, id) }, run.Waiting},
		"somebody came, and left": {func(_ *testing.T, b *bench, id, _ string) { b.Keep(me, id); b.Abandon(me, id, time.Minute) }, run.Stopped},
		"left again, for longer":  {func(_ *testing.T, b *bench, id, _ string) { b.Abandon(me, id, 10*time.Minute) }, run.Waiting},
		"left again, for a while": {func(_ *testing.T, b *bench, id, _ string) { b.Abandon(me, id, time.Minute) }, run.Stopped},
		"an answer":               {func(_ *testing.T, b *bench, _, askID string) { b.accept(askID, `{"one":true}`) }, run.Waiting},
		"waits for its end":       {func(_ *testing.T, b *bench, id, _ string) { b.When(me, id, 3, waiter(func() {})) }, run.Waiting},
		"follows": {func(t *testing.T, b *bench, id, _ string) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Hour, cancel)
			batches, err := b.Follow(ctx, me, id, 0)
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				for range batches {
				}
			}()
		}, run.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			info := deserted(t, tt.meanwhile)
			if info.State != tt.want {
				t.Errorf("the run is %s, want %s", info.State, tt.want)
			}
			if info.State == run.Stopped && info.Error != "nobody came back to it" {
				t.Errorf("it says %q", info.Error)
			}
		})
	}
}

// Its end unsets the time, and so does the engine's.
func TestAnAbandonedRunThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, twice, greeter)
		b := open(t, o)
		id := b.start("twice", "")
		one, seq := b.asked(id, 0)
		durable := b.start("greeter", "")
		b.asked(durable, 0)
		for _, id := range []string{id, durable} {
			if err := b.Abandon(me, id, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		b.accept(one, `{"one":true}`)
		two, _ := b.asked(id, seq)
		b.accept(two, `{"two":true}`)
		b.finished(id)
		if err := errors.Join(b.Abandon(me, id, time.Second), b.Keep(me, id)); err != nil {
			t.Errorf("abandoning and keeping a run that has ended: %v", err)
		}
		b.close()
		if err := b.Abandon(me, durable, time.Minute); err != nil {
			t.Errorf("after the close: %v", err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if f := b.finished(id); f.Status != log.Completed {
			t.Errorf("finished = %+v", f)
		}
		if got := kinds(b.entries(durable)); got[len(got)-1] != log.KindAsked {
			t.Errorf("the log of the durable run is %v: it was suspended", got)
		}
	})
}

func TestStrangersCantAbandon(t *testing.T) {
	b := newBench(t, twice)
	id := b.start("twice", "")
	you := run.Caller{"session:you"}
	for _, err := range []error{b.Abandon(you, id, 1), b.Keep(you, id)} {
		if !errors.Is(err, run.ErrForbidden) {
			t.Errorf("a stranger's: %v", err)
		}
	}
	for _, err := range []error{b.Abandon(me, "00", 1), b.Keep(me, "00")} {
		if !errors.Is(err, run.ErrNotFound) {
			t.Errorf("no such run: %v", err)
		}
	}
}
