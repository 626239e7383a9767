package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// testWithFakeClock runs a test in a synctest bubble.
func testWithFakeClock(t *testing.T, o func(t *testing.T) engine.Options, test func(t *testing.T, b *testEngine)) {
	synctest.Test(t, func(t *testing.T) { test(t, openTestEngine(t, o(t))) })
}

func TestTimeLimitPausesWhileAskIsOpen(t *testing.T) {
	slow := newPhoton("slow", func(ctx context.Context, yield generators.Yield) (string, error) {
		work := func() error {
			select {
			case <-time.After(40 * time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := work(); err != nil {
			return "", err
		}
		if _, err := ask.Confirm(yield, "go", "Go on?"); err != nil {
			return "", err
		}
		return "done", work()
	}, &generators.Options{TimeLimit: time.Minute})
	testWithFakeClock(t, func(t *testing.T) engine.Options { return testOptions(t, slow) }, func(t *testing.T, b *testEngine) {
		id := b.startRun("slow", "")
		time.Sleep(40*time.Second + 24*time.Hour)
		synctest.Wait()
		askID, _ := b.waitForAsk(id, 0)
		began := time.Now()
		b.acceptAsk(askID, `{"go":true}`)
		synctest.Wait()
		time.Sleep(30 * time.Second)
		f := b.waitForEnd(id)
		if f.Status != runlog.Failed || !strings.Contains(f.Error, "time limit of 1m0s") {
			t.Errorf("finished = %+v", f)
		}
		if f.TimeSpent != askdata.Millis(time.Minute) || time.Since(began) > 30*time.Second {
			t.Errorf("the run spent %v; it ended %v after the answer", f.TimeSpent, time.Since(began))
		}
	})
}

func TestAskWithOwnTimeoutExpires(t *testing.T) {
	p := newPhoton("brief", func(_ context.Context, yield generators.Yield) (string, error) {
		_, err := ask.Text(yield, "name", "Quick!", ask.Timeout(time.Minute))
		if !errors.Is(err, ask.ErrTimeout) {
			t.Errorf("asking returned %v", err)
		}
		return "too late", nil
	}, nil)
	testWithFakeClock(t, func(t *testing.T) engine.Options { return testOptions(t, p) }, func(t *testing.T, b *testEngine) {
		id := b.startRun("brief", "")
		synctest.Wait()
		askID, _ := b.waitForAsk(id, 0)
		open, err := b.Engine.OpenAsk(t.Context(), me, askID)
		if err != nil || time.Until(open.Deadline) != time.Minute {
			t.Errorf("the deadline is in %v, %v", time.Until(open.Deadline), err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := b.waitForEnd(id); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
		err = b.Answer(t.Context(), me, askID, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, "test")
		if !errors.Is(err, engine.ErrSettled) {
			t.Errorf("a late answer: %v", err)
		}
	})
}

func TestEventsOfAFlushIntervalAreAppendedTogether(t *testing.T) {
	ticks := newPhoton("ticks", func(ctx context.Context, yield generators.Yield) (any, error) {
		for range 100 {
			yield(generators.Status("tick"))
			time.Sleep(time.Millisecond) // in a bubble
		}
		return nil, nil
	}, nil)
	counting := &appendCountingLog{}
	testWithFakeClock(t, func(t *testing.T) engine.Options {
		o := testOptions(t, ticks)
		counting.Log = o.Log
		o.Log = counting
		return o
	}, func(t *testing.T, b *testEngine) {
		id := b.startRun("ticks", "")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := len(b.entries(id)); got != 103 {
			t.Errorf("%d entries, want 103", got)
		}
		if counting.count > 12 {
			t.Errorf("100 events within 100 ms took %d appends", counting.count)
		}
	})
}

type appendCountingLog struct {
	runlog.Log
	count int
}

func (a *appendCountingLog) Append(ctx context.Context, id string, after uint64, entries ...runlog.Entry) (uint64, error) {
	a.count++
	return a.Log.Append(ctx, id, after, entries...)
}

func TestFinishedRunsAreKeptByCountAndAge(t *testing.T) {
	testWithFakeClock(t, func(t *testing.T) engine.Options {
		o := testOptions(t, echo)
		o.Limits = engine.Limits{MaxFinishedPerOwner: 3, RetainFor: time.Hour}
		return o
	}, func(t *testing.T, b *testEngine) {
		var ids []string
		for range 5 {
			ids = append(ids, b.startRun("echo", `{"text":"x"}`))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if got := allRunIDs(b); len(got) != 5 {
			t.Errorf("only %v are left of %v, although they have just ended", got, ids)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := allRunIDs(b); !slices.Equal(got, []string{ids[4], ids[3], ids[2]}) {
			t.Errorf("kept %v of %v", got, ids)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := allRunIDs(b); len(got) != 0 {
			t.Errorf("after two hours, %v are left", got)
		}
	})
}

func allRunIDs(b *testEngine) []string {
	var ids []string
	for _, info := range b.Runs(me, 0, nil) {
		ids = append(ids, info.ID)
	}
	return ids
}

func TestLimits(t *testing.T) {
	chatty := newPhoton("chatty", func(_ context.Context, yield generators.Yield) (any, error) {
		for yield(generators.Status("again")) {
		}
		return nil, nil
	}, nil)
	bothAsked := make(chan struct{})
	asker := newPhoton("asker", func(_ context.Context, yield generators.Yield) (any, error) {
		var a, b bool
		asked := 0
		count := func(e generators.Event) bool {
			defer func() {
				if asked++; asked == 2 {
					close(bothAsked)
				}
			}()
			return yield(e)
		}
		return nil, ask.All(count, ask.ForConfirm("a", "A?").Into(&a), ask.ForConfirm("b", "B?").Into(&b))
	}, nil)
	o := testOptions(t, chatty, asker, greeter)
	o.Limits = engine.Limits{MaxEvents: 500, MaxActivePerOwner: 2}
	o.Policy = asking.Policy{OpenPerRun: 1}
	b := openTestEngine(t, o)
	if f := b.waitForEnd(b.startRun("chatty", "")); f.Status != runlog.Failed || !strings.Contains(f.Error, "500 events") {
		t.Errorf("too many events: %+v", f)
	}
	id := b.startRun("asker", "")
	askID, _ := b.waitForAsk(id, 0)
	<-bothAsked // one after the other would be allowed
	b.acceptAsk(askID, `{"a":true}`)
	if f := b.waitForEnd(id); f.Status != runlog.Failed || !strings.Contains(f.Error, "the most that are allowed") {
		t.Errorf("too many asks: %+v", f)
	}
	b.startRun("greeter", "")
	b.startRun("greeter", "")
	if _, err := b.Start(t.Context(), me, engine.StartRequest{Photon: "greeter"}); !errors.Is(err, engine.ErrTooManyRuns) {
		t.Errorf("too many runs: %v", err)
	}
}
