package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// runWithIdleTimeout starts a run that waits, sets an idle timeout of ten minutes,
// calls a function after nine minutes, and returns the state of the run twelve minutes
// later.
func runWithIdleTimeout(t *testing.T, meanwhile func(t *testing.T, b *testEngine, id, askID string)) (info engine.Info) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newTestEngine(t, twoConfirms)
		id := b.startRun("twice", "")
		askID, _ := b.waitForAsk(id, 0)
		if err := b.SetIdleTimeout(me, id, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		meanwhile(t, b, id, askID)
		synctest.Wait()
		if now, err := b.Info(me, id); err != nil || now.State == engine.Stopped {
			t.Errorf("after nine minutes, the run is %+v, %v", now, err)
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

func TestIdleTimeoutStopsRun(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile func(t *testing.T, b *testEngine, id, askID string)
		want      engine.State
	}{
		"nobody came":   {func(*testing.T, *testEngine, string, string) {}, engine.Stopped},
		"somebody came": {func(_ *testing.T, b *testEngine, id, _ string) { b.ClearIdleTimeout(me, id) }, engine.Waiting},
		"somebody came, and left": {func(_ *testing.T, b *testEngine, id, _ string) {
			b.ClearIdleTimeout(me, id)
			b.SetIdleTimeout(me, id, time.Minute)
		}, engine.Stopped},
		"left again, for longer":  {func(_ *testing.T, b *testEngine, id, _ string) { b.SetIdleTimeout(me, id, 10*time.Minute) }, engine.Waiting},
		"left again, for a while": {func(_ *testing.T, b *testEngine, id, _ string) { b.SetIdleTimeout(me, id, time.Minute) }, engine.Stopped},
		"an answer":               {func(_ *testing.T, b *testEngine, _, askID string) { b.acceptAsk(askID, `{"one":true}`) }, engine.Waiting},
		"waits for its end":       {func(_ *testing.T, b *testEngine, id, _ string) { b.AddWaiter(me, id, 3, funcWaiter(func() {})) }, engine.Waiting},
		"follows": {func(t *testing.T, b *testEngine, id, _ string) {
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
		}, engine.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			info := runWithIdleTimeout(t, tt.meanwhile)
			if info.State != tt.want {
				t.Errorf("the run is %s, want %s", info.State, tt.want)
			}
			if info.State == engine.Stopped && info.Error != "Stopped: no client came back to the run." {
				t.Errorf("the error is %q", info.Error)
			}
		})
	}
}

// The timeout ends with the run or the engine.
func TestIdleTimeoutOfEndedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, twoConfirms, greeter)
		b := openTestEngine(t, o)
		id := b.startRun("twice", "")
		one, seq := b.waitForAsk(id, 0)
		durable := b.startRun("greeter", "")
		b.waitForAsk(durable, 0)
		for _, id := range []string{id, durable} {
			if err := b.SetIdleTimeout(me, id, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		b.acceptAsk(one, `{"one":true}`)
		two, _ := b.waitForAsk(id, seq)
		b.acceptAsk(two, `{"two":true}`)
		b.waitForEnd(id)
		if err := errors.Join(b.SetIdleTimeout(me, id, time.Second), b.ClearIdleTimeout(me, id)); err != nil {
			t.Errorf("setting and clearing the timeout of a run that has ended: %v", err)
		}
		b.closeNow()
		if err := b.SetIdleTimeout(me, durable, time.Minute); err != nil {
			t.Errorf("after Close: %v", err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if f := b.waitForEnd(id); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
		if got := kindsOf(b.entries(durable)); got[len(got)-1] != runlog.KindAsked {
			t.Errorf("the log of the suspended run is %v", got)
		}
	})
}

func TestIdleTimeoutForbiddenToOthers(t *testing.T) {
	b := newTestEngine(t, twoConfirms)
	id := b.startRun("twice", "")
	you := generators.Caller{ID: "session:you"}
	for _, err := range []error{b.SetIdleTimeout(you, id, 1), b.ClearIdleTimeout(you, id)} {
		if !errors.Is(err, engine.ErrForbidden) {
			t.Errorf("for another owner: %v", err)
		}
	}
	for _, err := range []error{b.SetIdleTimeout(me, "00", 1), b.ClearIdleTimeout(me, "00")} {
		if !errors.Is(err, engine.ErrRunNotFound) {
			t.Errorf("for an unknown run: %v", err)
		}
	}
}
