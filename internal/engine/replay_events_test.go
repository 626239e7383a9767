package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
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

// A goroutine's event after an answer is recorded, although other goroutines replay their
// events in another order.
func TestEventsOfTwoGoroutinesAfterEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, newPhoton("two", func(_ context.Context, yield generators.Yield) (string, error) {
			var both sync.WaitGroup
			for i, key := range []string{"a", "b"} {
				both.Add(1)
				generators.Go(yield, func(_ context.Context, yield generators.Yield) {
					defer both.Done()
					time.Sleep(time.Duration(i) * 50 * time.Millisecond)
					if _, err := ask.Text(yield, key, key+"?"); err == nil {
						yield(generators.Status("result of " + key))
					}
				})
			}
			both.Wait()
			return "over", nil
		}, &generators.Options{Durable: true}))
		o.Limits.EvictAfter = time.Second
		b := openTestEngine(t, o)
		id := b.startRun("two", "")
		for _, key := range []string{"a", "b"} {
			time.Sleep(3 * time.Second)
			for _, open := range b.Inbox(me, 0) {
				if open.Key == key {
					b.acceptAsk(open.ID, `{"`+key+`":"x"}`)
				}
			}
		}
		b.waitForEnd(id)
		if got := b.statuses(id); !slices.Equal(got, []string{"result of a", "result of b"}) {
			t.Errorf("got %q", got)
		}
	})
}

// statuses returns the texts of a run's statuses, as they are shown.
func (b *testEngine) statuses(id string) (texts []string) {
	b.t.Helper()
	batches, err := b.Read(b.t.Context(), me, id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatal(err)
		}
		for _, e := range batch {
			if e.Kind == "status" || e.Kind == "chunk" {
				s, err := runlog.Decode[generators.StatusEvent](e)
				if err != nil {
					b.t.Fatal(err)
				}
				texts = append(texts, s.Text)
			}
		}
	}
	return texts
}

// chaos makes goroutines interleave at random.
type chaos struct {
	mu sync.Mutex
	*rand.Rand
}

func (c *chaos) pause() {
	c.mu.Lock()
	d := time.Duration(c.IntN(20)) * time.Millisecond
	c.mu.Unlock()
	time.Sleep(d) // in a bubble
}

func (c *chaos) upTo(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.IntN(n)
}

const jobCount = 10

// A job says five things, between a step and a question.
func (c *chaos) job(n int, yield generators.Yield) error {
	key := fmt.Sprint(n)
	say := func(what string) {
		c.pause()
		yield(generators.Statusf("job %d %s", n, what))
	}
	say("begins")
	_, err := generators.Step(yield, "work "+key, func(context.Context) (int, error) {
		say("works")
		c.pause()
		say("works more")
		return n, nil
	})
	if err != nil {
		return err
	}
	say("has worked")
	answer, err := ask.Text(yield, "ok "+key, fmt.Sprintf("Job %d?", n))
	if err != nil {
		return err
	}
	if answer != fmt.Sprintf("Job %d?", n) {
		return fmt.Errorf("job %d got the answer to %q", n, answer)
	}
	say("ends")
	return nil
}

// shapes are the ways to run jobs at once.
func (c *chaos) shapes() map[string]func(generators.Yield, func(n int, yield generators.Yield)) {
	return map[string]func(generators.Yield, func(n int, yield generators.Yield)){
		"one goroutine each": func(yield generators.Yield, job func(int, generators.Yield)) {
			var all sync.WaitGroup
			defer all.Wait()
			for n := range jobCount {
				all.Add(1)
				if !generators.Go(yield, func(_ context.Context, yield generators.Yield) { defer all.Done(); job(n, yield) }) {
					all.Done()
				}
			}
		},
		"nested": func(yield generators.Yield, job func(int, generators.Yield)) {
			var all sync.WaitGroup
			defer all.Wait()
			for n := range jobCount / 2 {
				all.Add(2)
				if !generators.Go(yield, func(_ context.Context, yield generators.Yield) {
					defer all.Done()
					if !generators.Go(yield, func(_ context.Context, yield generators.Yield) { defer all.Done(); job(2*n, yield) }) {
						all.Done()
					}
					job(2*n+1, yield)
				}) {
					all.Add(-2)
				}
			}
		},
		"a pool": func(yield generators.Yield, job func(int, generators.Yield)) {
			numbers := make(chan int, jobCount)
			for n := range jobCount {
				numbers <- n
			}
			close(numbers)
			var all sync.WaitGroup
			defer all.Wait()
			for range 3 {
				all.Add(1)
				if !generators.Go(yield, func(_ context.Context, yield generators.Yield) {
					defer all.Done()
					c.pause()
					for n := range numbers {
						job(n, yield)
					}
				}) {
					all.Done()
				}
			}
		},
	}
}

// However goroutines interleave, and whenever the process ends, each event is recorded once
// and each job gets its own answer.
func TestEventsAreRecordedOnce(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for shape := range (&chaos{}).shapes() {
		t.Run(shape, func(t *testing.T) {
			for range rounds {
				seed := rand.Uint64()
				synctest.Test(t, func(t *testing.T) { checkRecordedOnce(t, shape, seed) })
				if t.Failed() {
					t.Fatalf("with the seed %d", seed)
				}
			}
		})
	}
}

func checkRecordedOnce(t *testing.T, shape string, seed uint64) {
	c := &chaos{Rand: rand.New(rand.NewPCG(seed, 0))}
	photon := newPhoton("jobs", func(_ context.Context, yield generators.Yield) (string, error) {
		var mu sync.Mutex
		var errs error
		yield(generators.Status("begun"))
		c.shapes()[shape](yield, func(n int, yield generators.Yield) {
			if err := c.job(n, yield); err != nil {
				mu.Lock()
				errs = errors.Join(errs, err)
				mu.Unlock()
			}
		})
		yield(generators.Status("over"))
		return "over", errs
	}, &generators.Options{Durable: true})
	o := testOptions(t, photon)
	o.Limits.EvictAfter = 2 * time.Second
	b := openTestEngine(t, o)
	id := b.startRun("jobs", "")
	for crashes := 0; !b.state(id).State.Ended(); {
		time.Sleep(time.Duration(c.upTo(60)) * time.Millisecond) // in a bubble
		if open := b.Inbox(me, 0); len(open) > 0 && c.upTo(2) == 0 {
			answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(fmt.Sprintf(`{%q:%q}`, open[0].Key, open[0].Question.Message))}
			if err := b.Answer(t.Context(), me, open[0].ID, answer, "test"); err != nil && !errors.Is(err, engine.ErrSettled) {
				t.Fatal(err)
			}
		}
		switch {
		case crashes < 5 && c.upTo(8) == 0:
			crashes++
			b, o.Log = b.crash(t, o, id, c.upTo(3))
		case c.upTo(10) == 0:
			time.Sleep(5 * time.Second) // until it is evicted
		}
	}
	if f := b.waitForEnd(id); f.Status != runlog.Completed {
		t.Fatalf("finished = %+v", f)
	}
	counts := map[string]int{}
	for _, s := range b.statuses(id) {
		counts[s]++
	}
	want := map[string]int{"begun": 1, "over": 1}
	for n := range jobCount {
		for _, what := range []string{"begins", "works", "works more", "has worked", "ends"} {
			want[fmt.Sprintf("job %d %s", n, what)] = 1
		}
	}
	if !maps.Equal(counts, want) {
		for s, n := range want {
			if counts[s] != n {
				t.Errorf("%d times %q", counts[s], s)
			}
		}
		for _, e := range b.entries(id) {
			t.Log(e.Seq, e.Kind, e.Goroutine, e.Step, string(e.Data))
		}
	}
}

// crash ends the engine and opens one whose log lacks up to n of the last events, which
// had not been flushed.
func (b *testEngine) crash(t *testing.T, o engine.Options, id string, n int) (*testEngine, runlog.Log) {
	t.Helper()
	entries := b.entries(id)
	b.closeNow()
	for ; n > 0 && len(entries) > 0 && entries[len(entries)-1].Kind.IsEvent(); n-- {
		entries = entries[:len(entries)-1]
	}
	l := newTestLog()
	if _, err := l.Append(t.Context(), id, 0, entries...); err != nil {
		t.Fatal(err)
	}
	o.Log = l
	return openTestEngine(t, o), l
}

// A step that is repeated after a crash shows one text, to whoever reads it then; who has
// read the beginning is told that it begins again.
func TestRepeatedStepShowsOneText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := make(chan struct{})
		o := testOptions(t, newPhoton("teller", func(_ context.Context, yield generators.Yield) (string, error) {
			yield(generators.Status("begun "))
			text, err := generators.Step(yield, "tell", func(ctx context.Context) (string, error) {
				for i, word := range strings.Fields("one two three four five") {
					if i == 3 {
						<-crash
						if ctx.Err() != nil {
							return "", ctx.Err()
						}
					}
					yield(generators.Chunk(word + " "))
				}
				return "told", nil
			})
			yield(generators.Status("over"))
			return text, err
		}, &generators.Options{Durable: true}))
		b := openTestEngine(t, o)
		id := b.startRun("teller", "")
		time.Sleep(time.Second)
		if got := strings.Join(b.statuses(id), ""); got != "begun one two three " {
			t.Errorf("before the crash, it says %q", got)
		}
		last := b.state(id).LastSeq
		entries := b.entries(id)
		close(crash)
		b.closeNow()
		o.Log = newTestLog()
		if _, err := o.Log.Append(t.Context(), id, 0, entries...); err != nil {
			t.Fatal(err)
		}
		b = openTestEngine(t, o)
		b.waitForEnd(id)
		if got := strings.Join(b.statuses(id), ""); got != "begun one two three four five over" {
			t.Errorf("it says %q", got)
		}
		batches, err := b.Follow(t.Context(), me, id, last)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []runlog.Kind
		for batch := range batches {
			kinds = append(kinds, kindsOf(batch)...)
		}
		if got, want := fmt.Sprint(kinds), "[claimed repeated chunk chunk chunk chunk chunk stepped status finished]"; got != want {
			t.Errorf("after the crash, a follower reads %s, want %s", got, want)
		}
	})
}

// A step that fails and is tried again shows one text, and still says that it failed.
func TestRetriedStepShowsOneText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t, newPhoton("teller", func(_ context.Context, yield generators.Yield) (string, error) {
			yield(generators.Status("begun "))
			words := strings.Fields("one two three")
			tries := 0
			text, err := generators.Step(yield, "tell", func(context.Context) (string, error) {
				tries++
				for _, word := range words[:tries] {
					yield(generators.Chunk(word + " "))
				}
				if tries < len(words) {
					return "", errors.New("lost the thread")
				}
				return "told", nil
			}, generators.Retries(2, time.Second))
			yield(generators.Status("over"))
			return text, err
		}, &generators.Options{Durable: true}))
		b := openTestEngine(t, o)
		id := b.startRun("teller", "")
		live, err := b.Follow(t.Context(), me, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		kinds := make(chan []runlog.Kind, 1)
		go func() {
			var read []runlog.Kind
			for batch := range live {
				read = append(read, kindsOf(batch)...)
			}
			kinds <- read
		}()
		time.Sleep(time.Second / 2)
		if got := strings.Join(b.statuses(id), ""); got != "begun one " {
			t.Errorf("between the tries, it says %q", got)
		}
		b.waitForEnd(id)
		if got := strings.Join(b.statuses(id), ""); got != "begun one two three over" {
			t.Errorf("it says %q", got)
		}
		got, want := fmt.Sprint(<-kinds), "[started claimed status chunk log repeated chunk chunk log repeated chunk chunk chunk stepped status finished]"
		if got != want {
			t.Errorf("a follower reads %s, want %s", got, want)
		}
		var again []string
		for _, e := range b.entries(id) {
			if e.Kind == runlog.KindRepeated {
				r, err := runlog.Decode[runlog.Repeated](e)
				again = append(again, r.Describe(), fmt.Sprint(r.Ordinals()), fmt.Sprint(err))
			}
		}
		if got, want := strings.Join(again, "; "), `The step "tell" failed and is tried again: disregard what it has shown so far; [4]; <nil>; `+
			`The step "tell" failed and is tried again: disregard what it has shown so far; [7 8]; <nil>`; got != want {
			t.Errorf("it says %s, want %s", got, want)
		}
	})
}
