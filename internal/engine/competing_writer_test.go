package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A contestedLog is a log to which another process once appends first.
type contestedLog struct {
	runlog.Log
	mu           sync.Mutex
	appendBefore func(entries []runlog.Entry) []runlog.Entry // nil if it doesn't append
}

func (c *contestedLog) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.appendBefore != nil {
		if first := c.appendBefore(entries); first != nil {
			c.appendBefore = nil
			if _, err := c.Log.Append(ctx, run, after, first...); err != nil {
				return 0, err
			}
		}
	}
	return c.Log.Append(ctx, run, after, entries...)
}

// appendBeforeNext appends entries just before the next append that begins with
// a kind.
func (c *contestedLog) appendBeforeNext(kind runlog.Kind, entries ...runlog.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.appendBefore = func(others []runlog.Entry) []runlog.Entry {
		if others[0].Kind == kind {
			return entries
		}
		return nil
	}
}

func acceptedEntry(seq uint64, content string) runlog.Entry {
	return runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Surface: "another process", Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}})
}

func (b *testEngine) countEntries(id string, kind runlog.Kind) int {
	b.t.Helper()
	n := 0
	for _, e := range b.entries(id) {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// newEventWhileWaitingPhoton returns a photon that asks, and that has an event in its
// batch after one second.
func newEventWhileWaitingPhoton(opts ...ask.Option) *generators.Photon {
	return newPhoton("murmurer", func(_ context.Context, yield generators.Yield) (string, error) {
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			time.Sleep(time.Second) // in a bubble
			yield(generators.Status("written at once"))
			yield(generators.Status("waits in the batch"))
		})
		return ask.Text(yield, "name", "Name?", opts...)
	}, &generators.Options{Durable: true})
}

// waitWithEvent starts a run of newEventWhileWaitingPhoton with l as its log, which wraps
// the usual one, and returns once the run waits with an event in its batch.
func waitWithEvent(t *testing.T, l runlog.Log, wrapped *runlog.Log, opts ...ask.Option) (b *testEngine, id, askID string) {
	t.Helper()
	o := testOptions(t, newEventWhileWaitingPhoton(opts...))
	*wrapped, o.Log = o.Log, l
	b = openTestEngine(t, o)
	id = b.startRun("murmurer", "")
	askID, _ = b.waitForAsk(id, 0)
	time.Sleep(time.Second) // in a bubble
	synctest.Wait()
	return b, id, askID
}

// settleAskBy has functions that settle a question in different ways.
var settleAskBy = map[string]func(b *testEngine, askID string) error{
	"answered": func(b *testEngine, askID string) error {
		return b.Answer(b.t.Context(), me, askID, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Eve"}`)}, "here")
	},
	"withdrawn": func(b *testEngine, askID string) error {
		return b.Withdraw(b.t.Context(), me, askID, runlog.Unsupported, "")
	},
	"expired": func(*testEngine, string) error {
		time.Sleep(2 * time.Millisecond) // beyond its deadline
		return engine.ErrSettled
	},
}

// TestQuestionIsSettledOnce has another process append its answer between the
// batched events and the settlement that follows them.
func TestQuestionIsSettledOnce(t *testing.T) {
	for name, settle := range settleAskBy {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opts []ask.Option
				if name == "expired" {
					opts = append(opts, ask.Timeout(time.Second+time.Millisecond))
				}
				l := &contestedLog{}
				b, id, askID := waitWithEvent(t, l, &l.Log, opts...)
				_, seq, _ := runlog.SplitAskID(askID)
				l.appendBeforeNext("status", acceptedEntry(seq, `{"name":"Ada"}`))
				if err := settle(b, askID); !errors.Is(err, engine.ErrSettled) {
					t.Errorf("the second settlement: %v", err)
				}
				synctest.Wait()
				if n := b.countEntries(id, runlog.KindAnswered) + b.countEntries(id, runlog.KindWithdrawn); n != 1 {
					t.Errorf("the question is settled %d times: %v", n, kindsOf(b.entries(id)))
				}
				if f := b.waitForEnd(id); string(f.Result) != `"Ada"` || b.countEntries(id, "status") != 2 {
					t.Errorf("finished = %+v after %v", f, kindsOf(b.entries(id)))
				}
			})
		})
	}
}

// A run that another process has claimed still accepts answers.
func TestAnswerToRunClaimedElsewhereIsAccepted(t *testing.T) {
	for _, name := range []string{"answered", "withdrawn", "stopped"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &contestedLog{}
				b, id, askID := waitWithEvent(t, l, &l.Log)
				l.appendBeforeNext("status", runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 2}))
				kind, settle := runlog.Kind(name), settleAskBy[name]
				if settle == nil {
					kind, settle = runlog.KindFinished, func(b *testEngine, _ string) error { return b.Cancel(b.t.Context(), me, id, "browser") }
				}
				if err := settle(b, askID); err != nil {
					t.Error(err)
				}
				if b.countEntries(id, kind) != 1 {
					t.Errorf("the log is %v", kindsOf(b.entries(id)))
				}
			})
		})
	}
}

// A superseded worker can't end the run, even if it doesn't know yet.
func TestEndOfOlderEpochDoesNotCount(t *testing.T) {
	for name, end := range map[string]error{"completed": nil, "failed": errors.New("no luck")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				goOn := make(chan none)
				b := newTestEngine(t, newPhoton("worker", func(_ context.Context, yield generators.Yield) (string, error) {
					generators.Go(yield, func(_ context.Context, yield generators.Yield) { ask.Text(yield, "name", "Name?") })
					<-goOn
					return "done", end
				}, &generators.Options{Durable: true}))
				id := b.startRun("worker", "")
				_, seq := b.waitForAsk(id, 0)
				theirs := []runlog.Entry{runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 2}), acceptedEntry(seq, `{"name":"Ada"}`)}
				if _, err := b.log.Append(t.Context(), id, seq, theirs...); err != nil {
					t.Fatal(err)
				}
				close(goOn)
				synctest.Wait()
				if n := b.countEntries(id, runlog.KindFinished); n != 0 {
					t.Errorf("the log is %v", kindsOf(b.entries(id)))
				}
			})
		})
	}
}

// newPairPhoton returns a photon that asks two questions at once.
func newPairPhoton(began *atomic.Int64) *generators.Photon {
	return newPhoton("pair", func(_ context.Context, yield generators.Yield) (string, error) {
		began.Add(1)
		var first, second string
		err := ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
		return first + " " + second, err
	}, &generators.Options{Durable: true})
}

// Another process answers one of two questions just before this one, which has
// the answer to the other, claims the run.
func TestAnswerBeforeClaimIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Int64
		o := testOptions(t, newPairPhoton(&began))
		l := &contestedLog{Log: o.Log}
		o.Log = l
		b := openTestEngine(t, o)
		id := b.startRun("pair", "")
		first, seq := b.waitForAsk(id, 0)
		_, second := b.waitForAsk(id, seq)
		time.Sleep(time.Hour)
		synctest.Wait()
		l.appendBeforeNext(runlog.KindClaimed, acceptedEntry(second, `{"second":"two"}`))
		b.acceptAsk(first, `{"first":"one"}`)
		synctest.Wait()
		if info, err := b.Info(me, id); err != nil || info.State != engine.Completed || began.Load() != 2 {
			t.Fatalf("the run is %+v, %v, and started %d times; its log is %v", info, err, began.Load(), kindsOf(b.entries(id)))
		}
		if f := b.waitForEnd(id); string(f.Result) != `"one two"` {
			t.Errorf("finished = %+v", f)
		}
	})
}

// If a log has two answers to a question, which an older version of Beam may have
// recorded, the first one counts, because the run continued with it.
func TestFirstAnswerInLogCounts(t *testing.T) {
	for name, second := range map[string]runlog.Entry{
		"another answer": acceptedEntry(3, `{"name":"Eve"}`),
		"a withdrawal":   runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 3, Reason: runlog.Expired}),
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, greeter)
			o.Log = logWithPrefix(t, []runlog.Entry{
				runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "greeter", Durable: true, Owner: me.ID, Args: json.RawMessage("{}")}),
				runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1}),
				runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name", Question: &askdata.Question{Kind: askdata.KindText}}),
				acceptedEntry(3, `{"name":"Ada"}`),
				second,
			}, 5)
			b := openTestEngine(t, o)
			if f := b.waitForEnd(crashedRunID); string(f.Result) != `"Hello, Ada"` {
				t.Errorf("finished = %+v", f)
			}
		})
	}
}
