package run_test

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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// contested is a log in which another process appends first, once.
type contested struct {
	log.Log
	mu     sync.Mutex
	before func(entries []log.Entry) []log.Entry // nil if it doesn't want to
}

func (c *contested) Append(ctx context.Context, run string, after uint64, entries ...log.Entry) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before != nil {
		if first := c.before(entries); first != nil {
			c.before = nil
			if _, err := c.Log.Append(ctx, run, after, first...); err != nil {
				return 0, err
			}
		}
	}
	return c.Log.Append(ctx, run, after, entries...)
}

// next has entries appended before the next append that begins with a kind.
func (c *contested) next(kind log.Kind, entries ...log.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = func(others []log.Entry) []log.Entry {
		if others[0].Kind == kind {
			return entries
		}
		return nil
	}
}

func accepted(seq uint64, content string) log.Entry {
	return log.New(log.KindAnswered, log.Answered{Ask: seq, By: "another process", Answer: ask.Answer{Action: ask.Accept, Content: json.RawMessage(content)}})
}

func (b *bench) count(id string, kind log.Kind) int {
	b.t.Helper()
	n := 0
	for _, e := range b.entries(id) {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// murmurer asks, and has an event in its batch from one second on.
func murmurer(opts ...ask.Option) *generators.Photon {
	return photon("murmurer", func(_ context.Context, yield generators.Yield) (string, error) {
		generators.Go(yield, func(context.Context) {
			time.Sleep(time.Second) // in a bubble
			yield(generators.Status("written at once"))
			yield(generators.Status("waits in the batch"))
		})
		return ask.Text(yield, "name", "Name?", opts...)
	}, &generators.Options{Durable: true})
}

// settlings are the ways in which a question is settled here.
var settlings = map[string]func(b *bench, askID string) error{
	"answered": func(b *bench, askID string) error {
		return b.Answer(b.t.Context(), me, askID, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Eve"}`)}, "here")
	},
	"withdrawn": func(b *bench, askID string) error {
		return b.Withdraw(b.t.Context(), me, askID, log.Unsupported, "")
	},
	"expired": func(*bench, string) error {
		time.Sleep(2 * time.Millisecond) // it has a deadline
		return run.ErrSettled
	},
}

// TestAQuestionIsSettledOnce: another process's answer comes between the events
// that wait and the settlement that follows them.
func TestAQuestionIsSettledOnce(t *testing.T) {
	for name, settle := range settlings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opts []ask.Option
				if name == "expired" {
					opts = append(opts, ask.Timeout(time.Second+time.Millisecond))
				}
				o := options(t, murmurer(opts...))
				l := &contested{Log: o.Log}
				o.Log = l
				b := open(t, o)
				id := b.start("murmurer", "")
				askID, seq := b.asked(id, 0)
				time.Sleep(time.Second)
				synctest.Wait()
				l.next("status", accepted(seq, `{"name":"Ada"}`))
				if err := settle(b, askID); !errors.Is(err, run.ErrSettled) {
					t.Errorf("the second settlement: %v", err)
				}
				synctest.Wait()
				if n := b.count(id, log.KindAnswered) + b.count(id, log.KindWithdrawn); n != 1 {
					t.Errorf("the question is settled %d times: %v", n, kinds(b.entries(id)))
				}
				if f := b.finished(id); string(f.Result) != `"Ada"` || b.count(id, "status") != 2 {
					t.Errorf("finished = %+v after %v", f, kinds(b.entries(id)))
				}
			})
		})
	}
}

// A question that another process has taken over is open there.
func TestAnAnswerIsTakenThoughAnotherProcessHasTheRun(t *testing.T) {
	for _, name := range []string{"answered", "withdrawn", "stopped"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(t, murmurer())
				l := &contested{Log: o.Log}
				o.Log = l
				b := open(t, o)
				id := b.start("murmurer", "")
				askID, _ := b.asked(id, 0)
				time.Sleep(time.Second)
				synctest.Wait()
				l.next("status", log.New(log.KindClaimed, log.Claimed{Epoch: 2}))
				kind, settle := log.Kind(name), settlings[name]
				if settle == nil {
					kind, settle = log.KindFinished, func(b *bench, _ string) error { return b.Cancel(b.t.Context(), me, id) }
				}
				if err := settle(b, askID); err != nil {
					t.Error(err)
				}
				if b.count(id, kind) != 1 {
					t.Errorf("the log is %v", kinds(b.entries(id)))
				}
			})
		})
	}
}

// A worker that doesn't know yet that it is superseded can't end the run.
func TestAnEndOfAnOlderEpochDoesNotCount(t *testing.T) {
	for name, end := range map[string]error{"completed": nil, "failed": errors.New("no luck")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				goOn := make(chan none)
				b := newBench(t, photon("worker", func(_ context.Context, yield generators.Yield) (string, error) {
					generators.Go(yield, func(context.Context) { ask.Text(yield, "name", "Name?") })
					<-goOn
					return "done", end
				}, &generators.Options{Durable: true}))
				id := b.start("worker", "")
				_, seq := b.asked(id, 0)
				theirs := []log.Entry{log.New(log.KindClaimed, log.Claimed{Epoch: 2}), accepted(seq, `{"name":"Ada"}`)}
				if _, err := b.log.Append(t.Context(), id, seq, theirs...); err != nil {
					t.Fatal(err)
				}
				close(goOn)
				synctest.Wait()
				if n := b.count(id, log.KindFinished); n != 0 {
					t.Errorf("the log is %v", kinds(b.entries(id)))
				}
			})
		})
	}
}

// pair asks two questions at once.
func pair(began *atomic.Int64) *generators.Photon {
	return photon("pair", func(_ context.Context, yield generators.Yield) (string, error) {
		began.Add(1)
		var first, second string
		err := ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
		return first + " " + second, err
	}, &generators.Options{Durable: true})
}

// Another process answers one question just before a run, to which the answer to
// the other one came, is claimed.
func TestAnAnswerBeforeTheClaimIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Int64
		o := options(t, pair(&began))
		l := &contested{Log: o.Log}
		o.Log = l
		b := open(t, o)
		id := b.start("pair", "")
		first, seq := b.asked(id, 0)
		_, second := b.asked(id, seq)
		time.Sleep(time.Hour)
		synctest.Wait()
		l.next(log.KindClaimed, accepted(second, `{"second":"two"}`))
		b.accept(first, `{"first":"one"}`)
		synctest.Wait()
		if info, err := b.Info(me, id); err != nil || info.State != run.Completed || began.Load() != 2 {
			t.Fatalf("the run is %+v, %v, and began %d times; its log is %v", info, err, began.Load(), kinds(b.entries(id)))
		}
		if f := b.finished(id); string(f.Result) != `"one two"` {
			t.Errorf("finished = %+v", f)
		}
	})
}

// Of two answers in a log, which an older Beam may have written, the first
// holds: the run went on with it.
func TestTheFirstAnswerOfALogHolds(t *testing.T) {
	for name, second := range map[string]log.Entry{
		"another answer": accepted(3, `{"name":"Eve"}`),
		"a withdrawal":   log.New(log.KindWithdrawn, log.Withdrawn{Ask: 3, Reason: log.Expired}),
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, greeter)
			o.Log = prefix(t, []log.Entry{
				log.New(log.KindStarted, log.Started{Photon: "greeter", Durable: true, Owner: me.Owner(), Args: json.RawMessage("{}")}),
				log.New(log.KindClaimed, log.Claimed{Epoch: 1}),
				log.New(log.KindAsked, log.Asked{Key: "name", Question: &ask.Question{Kind: ask.KindText}}),
				accepted(3, `{"name":"Ada"}`),
				second,
			}, 5)
			b := open(t, o)
			if f := b.finished(crashed); string(f.Result) != `"Hello, Ada"` {
				t.Errorf("finished = %+v", f)
			}
		})
	}
}
