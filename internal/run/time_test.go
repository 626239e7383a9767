package run_test

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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// inBubble runs a test with a clock of its own.
func inBubble(t *testing.T, o func(t *testing.T) run.Options, test func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) { test(t, open(t, o(t))) })
}

func TestTheTimeLimitStandsStillWhileAPersonThinks(t *testing.T) {
	slow := photon("slow", func(ctx context.Context, yield generators.Yield) (string, error) {
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
	inBubble(t, func(t *testing.T) run.Options { return options(t, slow) }, func(t *testing.T, b *bench) {
		id := b.start("slow", "")
		time.Sleep(40*time.Second + 24*time.Hour)
		synctest.Wait()
		askID, _ := b.asked(id, 0)
		began := time.Now()
		b.accept(askID, `{"go":true}`)
		synctest.Wait()
		time.Sleep(30 * time.Second)
		f := b.finished(id)
		if f.Status != log.Failed || !strings.Contains(f.Error, "time limit of 1m0s") {
			t.Errorf("finished = %+v", f)
		}
		if f.Spent != ask.Millis(time.Minute) || time.Since(began) > 30*time.Second {
			t.Errorf("spent %v; the limit came %v after the answer", f.Spent, time.Since(began))
		}
	})
}

func TestAnAskOfItsOwnTimeExpires(t *testing.T) {
	p := photon("brief", func(_ context.Context, yield generators.Yield) (string, error) {
		_, err := ask.Text(yield, "name", "Quick!", ask.Timeout(time.Minute))
		if !errors.Is(err, ask.ErrTimeout) {
			t.Errorf("the ask returned %v", err)
		}
		return "too late", nil
	}, nil)
	inBubble(t, func(t *testing.T) run.Options { return options(t, p) }, func(t *testing.T, b *bench) {
		id := b.start("brief", "")
		synctest.Wait()
		askID, _ := b.asked(id, 0)
		open, err := b.Engine.Ask(t.Context(), me, askID)
		if err != nil || time.Until(open.Deadline) != time.Minute {
			t.Errorf("deadline in %v, %v", time.Until(open.Deadline), err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := b.finished(id); f.Status != log.Completed {
			t.Errorf("finished = %+v", f)
		}
		err = b.Answer(t.Context(), me, askID, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, "test")
		if !errors.Is(err, run.ErrSettled) {
			t.Errorf("a late answer: %v", err)
		}
	})
}

func TestEventsOfAFrameAreAppendedTogether(t *testing.T) {
	ticks := photon("ticks", func(ctx context.Context, yield generators.Yield) (any, error) {
		for range 100 {
			yield(generators.Status("tick"))
			time.Sleep(time.Millisecond) // in a bubble
		}
		return nil, nil
	}, nil)
	counting := &appends{}
	inBubble(t, func(t *testing.T) run.Options {
		o := options(t, ticks)
		counting.Log = o.Log
		o.Log = counting
		return o
	}, func(t *testing.T, b *bench) {
		id := b.start("ticks", "")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := len(b.entries(id)); got != 103 {
			t.Errorf("%d entries, want 103", got)
		}
		if counting.n > 12 {
			t.Errorf("100 events within 100 ms took %d appends", counting.n)
		}
	})
}

type appends struct {
	log.Log
	n int
}

func (a *appends) Append(ctx context.Context, id string, after uint64, entries ...log.Entry) (uint64, error) {
	a.n++
	return a.Log.Append(ctx, id, after, entries...)
}

func TestFinishedRunsAreKeptByCountAndAge(t *testing.T) {
	inBubble(t, func(t *testing.T) run.Options {
		o := options(t, echo)
		o.Limits = run.Limits{KeepFinished: 3, KeepFor: time.Hour}
		return o
	}, func(t *testing.T, b *bench) {
		var ids []string
		for range 5 {
			ids = append(ids, b.start("echo", `{"text":"x"}`))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if got := runIDs(b); len(got) != 5 {
			t.Errorf("only %v are left of %v, though they ended just now", got, ids)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := runIDs(b); !slices.Equal(got, []string{ids[4], ids[3], ids[2]}) {
			t.Errorf("kept %v of %v", got, ids)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := runIDs(b); len(got) != 0 {
			t.Errorf("after two hours %v are left", got)
		}
	})
}

func runIDs(b *bench) []string {
	var ids []string
	for _, info := range b.Runs(me, 0, nil) {
		ids = append(ids, info.ID)
	}
	return ids
}

func TestLimits(t *testing.T) {
	chatty := photon("chatty", func(_ context.Context, yield generators.Yield) (any, error) {
		for yield(generators.Status("again")) {
		}
		return nil, nil
	}, nil)
	asker := photon("asker", func(_ context.Context, yield generators.Yield) (any, error) {
		var a, b bool
		return nil, ask.All(yield, ask.ForConfirm("a", "A?").Into(&a), ask.ForConfirm("b", "B?").Into(&b))
	}, nil)
	o := options(t, chatty, asker, greeter)
	o.Limits = run.Limits{Events: 500, Active: 2}
	o.Policy = ask.Policy{OpenPerRun: 1}
	b := open(t, o)
	if f := b.finished(b.start("chatty", "")); f.Status != log.Failed || !strings.Contains(f.Error, "500 events") {
		t.Errorf("too many events: %+v", f)
	}
	id := b.start("asker", "")
	askID, _ := b.asked(id, 0)
	b.accept(askID, `{"a":true}`)
	if f := b.finished(id); f.Status != log.Failed || !strings.Contains(f.Error, "no more are allowed") {
		t.Errorf("too many asks: %+v", f)
	}
	b.start("greeter", "")
	b.start("greeter", "")
	if _, err := b.Start(t.Context(), me, run.Request{Photon: "greeter"}); !errors.Is(err, run.ErrTooMany) {
		t.Errorf("too many runs: %v", err)
	}
}
