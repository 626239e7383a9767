package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// The lists are the same before and after a restart, with runs in every state.
func TestListsAreTheSameAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true, ask.Timeout(24*time.Hour)))
		b := openTestEngine(t, o)
		a := generators.Caller{ID: "a"}
		all := generators.Caller{ID: "b", Name: "Bea", Roles: []string{generators.RoleOperator}}
		for i := range 200 {
			id := b.startRunAs([]generators.Caller{a, a, all}[i%3], "patient")
			time.Sleep(time.Duration(i%3) * time.Millisecond)
			synctest.Wait()
			if i%5 == 0 {
				if err := b.Adopt(t.Context(), all, id); err != nil {
					t.Fatal(err)
				}
			}
			for _, content := range []string{`{"first":"one"}`, `{"second":"two"}`}[:i%4%3] {
				b.acceptOnlyAsk(all, id, content)
				synctest.Wait()
			}
			if i%7 == 0 {
				if err := b.Cancel(t.Context(), all, id, "browser"); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := listsOf(t, b, all) + listsOf(t, b, a)
		b.closeNow()
		b = openTestEngine(t, o)
		if after := listsOf(t, b, all) + listsOf(t, b, a); after != before {
			t.Errorf("after a restart, the lists are\n%s\nand were\n%s", after, before)
		}
	})
}

// acceptOnlyAsk answers the open question of a run.
func (b *testEngine) acceptOnlyAsk(who generators.Caller, id, content string) {
	b.t.Helper()
	info, err := b.Info(who, id)
	if err != nil || len(info.Asks) != 1 {
		b.t.Fatal(info, err)
	}
	a := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}
	if err := b.Answer(b.t.Context(), who, info.Asks[0].ID, a, "test"); err != nil {
		b.t.Fatal(err)
	}
}

// listsOf returns everything that the lists show.
func listsOf(t *testing.T, b *testEngine, who generators.Caller) string {
	t.Helper()
	runs := b.Runs(who, 0, nil)
	for _, r := range runs {
		one, err := b.Info(who, r.ID)
		if err != nil || one.Owner != r.Owner {
			t.Errorf("run %s of %s: %v", r.ID, r.Owner, err)
		}
	}
	raw, err := json.MarshalIndent([]any{
		runs, b.Inbox(who, 0), b.CountOpenAsks(who), b.Runs(who, 20, func(i engine.Info) bool { return i.State == engine.Waiting }),
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A question whose deadline passed while no process was running expires on
// start.
func TestDeadlineThatPassedBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true, ask.Timeout(2*time.Hour)))
		b := openTestEngine(t, o)
		early := b.startRun("patient", "")
		time.Sleep(90 * time.Minute)
		late := b.startRun("patient", "")
		b.waitForAsk(late, 0)
		b.closeNow()
		time.Sleep(time.Hour)
		b = openTestEngine(t, o)
		synctest.Wait()
		if f := b.waitForEnd(early); f.Reason() != runlog.ReasonExpired {
			t.Errorf("finished = %+v", f)
		}
		if info, err := b.Info(me, late); err != nil || info.State != engine.Waiting {
			t.Errorf("the run with the later deadline is %+v, %v", info, err)
		}
		time.Sleep(time.Hour)
		if f := b.waitForEnd(late); f.Reason() != runlog.ReasonExpired {
			t.Errorf("finished = %+v", f)
		}
	})
}

// A deadline in the distant future is not mistaken for one in the past.
func TestDistantDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true, ask.Timeout(math.MaxInt64)))
		b := openTestEngine(t, o)
		id := b.startRun("patient", "")
		b.waitForAsk(id, 0)
		b.closeNow()
		b = openTestEngine(t, o)
		time.Sleep(time.Hour)
		if info, err := b.Info(me, id); err != nil || info.State != engine.Waiting {
			t.Errorf("the run is %+v, %v", info, err)
		}
	})
}

// Many questions expire in the order of their deadlines, and none is missed.
func TestManyDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		b := newTestEngine(t, p.newPhoton(true, ask.Timeout(time.Hour)))
		var ids []string
		for range 500 {
			ids = append(ids, b.startRun("patient", ""))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour - 250*time.Second - time.Millisecond)
		synctest.Wait()
		for i, id := range ids {
			info, err := b.Info(me, id)
			if over := i < 250; err != nil || info.State.Ended() != over {
				t.Fatalf("run %d is %s, %v", i, info.State, err)
			}
		}
		if n := b.CountOpenAsks(me); n != 250 {
			t.Errorf("%d questions are open, want 250", n)
		}
	})
}

// Idempotency keys still work after a restart, when the arguments are only in the log.
func TestIdempotencyKeyAfterRestart(t *testing.T) {
	o := testOptions(t, echo)
	start := func(b *testEngine, args string) (engine.Info, error) {
		return b.Start(t.Context(), me, engine.StartRequest{Photon: "echo", Args: json.RawMessage(args), IdempotencyKey: "k"})
	}
	before := openTestEngine(t, o)
	first, err := start(before, `{"text":"a"}`)
	if err != nil {
		t.Fatal(err)
	}
	before.waitForEnd(first.ID)
	before.closeNow()
	after := openTestEngine(t, o)
	if again, err := start(after, `{"text":"a"}`); err != nil || again.ID != first.ID {
		t.Errorf("the same request returned the run %s, %v, want %s", again.ID, err, first.ID)
	}
	if _, err := start(after, `{"text":"b"}`); !errors.Is(err, engine.ErrIdempotencyKeyReused) {
		t.Errorf("another request: %v", err)
	}
}

// slowLog counts how many runs are read at once.
type slowLog struct {
	runlog.Log
	mu                  sync.Mutex
	reading, maxReading int
}

// count adds to the number of runs that are being read.
func (l *slowLog) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading += n
	l.maxReading = max(l.maxReading, l.reading)
}

func (l *slowLog) Read(ctx context.Context, id string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	if after > 0 {
		return l.Log.Read(ctx, id, after)
	}
	return func(yield func([]runlog.Entry, error) bool) {
		l.count(+1)
		time.Sleep(time.Millisecond) // in a bubble
		l.count(-1)
		l.Log.Read(ctx, id, after)(yield)
	}
}

// If many runs are answered at once, all of them continue, but only a few are read from
// the log at the same time.
func TestManyAnswersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p twoAskPhoton
		o := testOptions(t, p.newPhoton(true))
		l := &slowLog{Log: o.Log}
		o.Log = l
		b := openTestEngine(t, o)
		var asks []string
		for range 300 {
			askID, _ := b.waitForAsk(b.startRun("patient", ""), 0)
			asks = append(asks, askID)
		}
		time.Sleep(time.Hour)
		for _, id := range asks {
			b.acceptAsk(id, `{"first":"one"}`)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if l.maxReading != 32 {
			t.Errorf("%d runs were read at once, want 32", l.maxReading)
		}
		if p.steps.Load() != 300 || b.CountOpenAsks(me) != 300 {
			t.Errorf("%d of 300 runs continued, and %d questions are open", p.steps.Load(), b.CountOpenAsks(me))
		}
	})
}

// A question is the same while its run is resident, after the run was evicted, and
// after a restart.
func TestAskIsTheSameResidentAndEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, newPhoton("worker", func(ctx context.Context, yield generators.Yield) (string, error) {
			select {
			case <-time.After(1500 * time.Millisecond):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			return ask.Text(yield, "name", "Name?", ask.Timeout(48*time.Hour))
		}, &generators.Options{Durable: true}))
		b := openTestEngine(t, o)
		id := b.startRun("worker", "")
		b.waitForAsk(id, 0)
		synctest.Wait()
		lists := func(b *testEngine) string {
			raw, err := json.Marshal([]any{b.Inbox(me, 0), b.Runs(me, 0, nil)})
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		before := lists(b)
		time.Sleep(time.Hour)
		synctest.Wait()
		if evicted := lists(b); evicted != before {
			t.Errorf("after the eviction, the lists are\n%s\nand were\n%s", evicted, before)
		}
		b.closeNow()
		b = openTestEngine(t, o)
		if restarted := lists(b); restarted != before {
			t.Errorf("after a restart, the lists are\n%s\nand were\n%s", restarted, before)
		}
	})
}
