package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A release is a photon whose code can be changed. It notes which of its steps run.
type release struct {
	code func(r *release, in releaseInput, yield generators.Yield) (string, error)

	mu  sync.Mutex
	ran []string
}

type releaseInput struct {
	Of string `json:"of,omitempty"`
}

func (r *release) photon() *generators.Photon {
	return generators.New("release", func(_ context.Context, in releaseInput, yield generators.Yield) (string, error) {
		return r.code(r, in, yield)
	}, &generators.Options{Durable: true})
}

func (r *release) step(yield generators.Yield, key string) (string, error) {
	return generators.Step(yield, key, func(context.Context) (string, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ran = append(r.ran, key)
		if strings.HasPrefix(key, "fail") {
			return "", errors.New("no luck")
		}
		return fmt.Sprint(key, len(r.ran)), nil
	})
}

// take returns which steps have run since the last call, in order of their keys.
func (r *release) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.ran)
	ran := strings.Join(r.ran, " ")
	r.ran = nil
	return ran
}

// do makes calls: a step, or a question if the key ends with "?", which can't be undone if it ends
// with "!".
func (r *release) do(yield generators.Yield, keys ...string) (results []string, err error) {
	for _, key := range keys {
		var result string
		switch name, mark := key[:len(key)-1], key[len(key)-1]; mark {
		case '?':
			result, err = ask.Text(yield, name, "Say "+name)
		case '!':
			var ok bool
			ok, err = ask.Confirm(yield, name, "Do "+name+"?", ask.Destructive())
			result = fmt.Sprint(ok)
		case '*':
			result, err = ask.Secret(yield, name, "Secret "+name)
		default:
			yield(generators.Statusf("before %s", key))
			if result, err = r.step(yield, key); err != nil {
				result, err = err.Error(), nil
			}
		}
		if err != nil {
			return results, err
		}
		results = append(results, result)
	}
	return results, nil
}

func doing(keys ...string) func(*release, releaseInput, generators.Yield) (string, error) {
	return func(r *release, in releaseInput, yield generators.Yield) (string, error) {
		results, err := r.do(yield, keys...)
		return in.Of + strings.Join(results, " "), err
	}
}

// answerAll answers a run's questions, each by its key, until the run ends. It returns the keys of
// the questions that it was asked to answer.
func (b *testEngine) answerAll(id string) (asked []string, f runlog.Finished) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), programtest.WaitTimeout/24)
	defer cancel()
	batches, err := b.Follow(ctx, me, id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatalf("%v, after %v", err, kindsOf(b.entries(id)))
		}
		for _, e := range batch {
			if e.Kind != runlog.KindAsked {
				continue
			}
			a, err := runlog.Decode[runlog.Asked](e)
			if err != nil {
				b.t.Fatal(err)
			}
			if a.Taken {
				continue
			}
			asked = append(asked, a.Key)
			content := fmt.Sprintf(`{%q:"by hand"}`, a.Question.Fields[0].Name)
			if a.Question.Kind == askdata.KindConfirm {
				content = fmt.Sprintf(`{%q:true}`, a.Question.Fields[0].Name)
			}
			answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}
			if err := b.Answer(b.t.Context(), me, runlog.AskID(id, e.Seq), answer, "test"); err != nil && err != engine.ErrSettled {
				b.t.Fatal(err)
			}
		}
	}
	return asked, b.waitForEnd(id)
}

func (b *testEngine) fork(id string, until uint64, args string) string {
	b.t.Helper()
	var input json.RawMessage
	if args != "" {
		input = json.RawMessage(args)
	}
	info, err := b.Fork(b.t.Context(), me, id, until, input, engine.StartRequest{Surface: "test"})
	if err != nil {
		b.t.Fatal(err)
	}
	return info.ID
}

// seqOf returns the ordinal of the entry that records a call.
func (b *testEngine) seqOf(id, key string) uint64 {
	b.t.Helper()
	for _, e := range b.entries(id) {
		if strings.Contains(string(e.Data), fmt.Sprintf(`"key":%q`, key)) {
			return e.Seq
		}
	}
	b.t.Fatalf("no call %s in %v", key, kindsOf(b.entries(id)))
	return 0
}

// differs returns what the entries of a run say differs.
func (b *testEngine) differs(id string) (texts []string) {
	b.t.Helper()
	for _, e := range b.entries(id) {
		var data struct{ Differs string }
		if json.Unmarshal(e.Data, &data) == nil && data.Differs != "" {
			texts = append(texts, data.Differs)
		}
	}
	return texts
}

// A fork takes what is recorded as long as it makes the same calls, and makes the others anew.
func TestForkTakesWhatIsRecorded(t *testing.T) {
	old := []string{"plan", "name?", "fail", "mail", "where?", "done"}
	for _, tt := range []struct {
		name       string
		old, now   []string
		until      string // a key; empty for all
		ran, asked string
		differs    string
	}{
		{"all", old, old, "", "", "", ""},
		{"to a step", old, old, "fail", "done mail", "where", ""},
		{"to a question", old, old, "name", "done fail mail", "where", ""},
		{"a step is new", old, []string{"plan", "name?", "check", "fail", "mail", "where?", "done"}, "", "check done fail mail", "where", `This call, "check" (step), differs`},
		{"a question is new", old, []string{"plan", "sure?", "name?", "fail", "mail", "where?", "done"}, "", "done fail mail", "sure name where", `This call, "sure" (text), differs`},
		{"a step became a question", old, []string{"plan", "name?", "mail?", "done"}, "", "done", "mail", `made the call "mail" (step) here`},
		{"new after the end", old, append(slices.Clone(old), "more", "last?"), "", "more", "last", ""},
		{"new after the chosen point", old, []string{"plan", "name?", "fail", "new"}, "fail", "new", "", ""},
		{"the same key twice", []string{"mail", "mail", "name?", "mail"}, []string{"mail", "mail", "name?", "mail", "mail"}, "name", "mail mail", "", ""},
		{"what can't be undone", []string{"plan", "go!", "deploy", "name?"}, []string{"plan", "go!", "deploy", "name?"}, "", "deploy", "go name", ""},
		{"what can't be undone is gone", []string{"plan", "go!", "deploy", "name?"}, []string{"plan", "deploy", "name?"}, "", "deploy", "name", ""},
		{"a secret", []string{"plan", "pin*", "pay", "name?"}, []string{"plan", "pin*", "pay", "name?"}, "", "pay", "pin name", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &release{code: doing(tt.old...)}
			b := newTestEngine(t, r.photon())
			id := b.startRun("release", "")
			b.answerAll(id)
			r.take()
			until := uint64(math.MaxUint64)
			if tt.until != "" {
				until = b.seqOf(id, tt.until)
			}
			r.code = doing(tt.now...)
			fork := b.fork(id, until, "")
			asked, f := b.answerAll(fork)
			if f.Status != runlog.Completed {
				t.Errorf("finished = %+v", f)
			}
			if got := strings.Join(asked, " "); got != tt.asked {
				t.Errorf("somebody was asked %q, want %q", got, tt.asked)
			}
			if got := r.take(); got != tt.ran {
				t.Errorf("the steps %q ran, want %q", got, tt.ran)
			}
			texts := b.differs(fork)
			if tt.differs == "" && len(texts) > 0 || tt.differs != "" && (len(texts) != 1 || !strings.Contains(texts[0], tt.differs)) {
				t.Errorf("the log says %q, want %q", texts, tt.differs)
			}
		})
	}
}

// The values and errors of steps are those that are recorded, and other input is checked.
func TestForkWithOtherInput(t *testing.T) {
	r := &release{code: doing("plan", "fail", "name?")}
	b := newTestEngine(t, r.photon())
	id := b.startRun("release", `{"of":"1: "}`)
	b.answerAll(id)
	r.take()
	fork := b.fork(id, math.MaxUint64, `{"of":"2: "}`)
	if _, f := b.answerAll(fork); string(f.Result) != `"2: plan1 no luck by hand"` {
		t.Errorf("finished = %+v", f)
	}
	if ran := r.take(); ran != "" {
		t.Errorf("the steps %q ran", ran)
	}
	var invalid *generators.InvalidError
	_, err := b.Fork(t.Context(), me, id, 1, json.RawMessage(`{"of":3}`), engine.StartRequest{})
	if !errors.As(err, &invalid) {
		t.Errorf("other input that isn't valid: %v", err)
	}
	if _, err := b.Fork(t.Context(), generators.Caller{ID: "other"}, id, 1, nil, engine.StartRequest{}); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("somebody else: %v", err)
	}
	if _, err := b.Fork(t.Context(), me, "none", 1, nil, engine.StartRequest{}); !errors.Is(err, engine.ErrRunNotFound) {
		t.Errorf("no run: %v", err)
	}
	var until *engine.UntilError
	last := b.state(id).LastSeq
	if _, err := b.Fork(t.Context(), me, id, last+1, nil, engine.StartRequest{}); !errors.As(err, &until) || until.Last != last {
		t.Errorf("a fork at an entry that there isn't: %v", err)
	}
	if _, err := b.Replay(t.Context(), me, id, last+1, engine.StartRequest{}); !errors.As(err, &until) || until.Last != last {
		t.Errorf("a replay to an entry that there isn't: %v", err)
	}
	b.answerAll(b.fork(id, last, ""))
}

// A run that is parked is forked: the new code goes on from the last point that fits.
func TestForkOfParkedRun(t *testing.T) {
	r := &release{code: doing("plan", "name?", "mail", "where?", "done")}
	o := testOptions(t, r.photon())
	o.Program = func() string { return "old" }
	b := openTestEngine(t, o)
	id := b.startRun("release", "")
	first, seq := b.waitForAsk(id, 0)
	b.acceptAsk(first, `{"name":"Ada"}`)
	b.waitForAsk(id, seq)
	b.closeNow()
	r.take()
	r.code = doing("plan", "name?", "mail", "to?", "done")
	o.Program = func() string { return "new" }
	again := openTestEngine(t, o)
	if info := again.state(id); info.State != engine.Parked {
		t.Fatalf("the run is %s", info.State)
	}
	fork := again.fork(id, math.MaxUint64, "")
	asked, f := again.answerAll(fork)
	if f.Status != runlog.Completed || strings.Join(asked, " ") != "to" || r.take() != "done" {
		t.Errorf("asked %v, finished %+v", asked, f)
	}
	if d := again.differs(fork); len(d) != 1 || !strings.Contains(d[0], `"where" (text) here`) {
		t.Errorf("the log says %q", d)
	}
	info, forkInfo := again.state(id), again.state(fork)
	if info.State != engine.Parked || !slices.Equal(info.Forks, []string{fork}) || forkInfo.ForkOf != id || forkInfo.ForkUntil != info.LastSeq {
		t.Errorf("the run is %+v, and its fork %+v", info, forkInfo)
	}
}

// Goroutines take their own outcomes, in whatever order they run, and those that had not come as
// far make their calls anew.
func TestForkOfGoroutines(t *testing.T) {
	var turn [3]chan struct{}
	r := &release{}
	r.code = func(r *release, _ releaseInput, yield generators.Yield) (string, error) {
		var wg sync.WaitGroup
		var results [3]string
		for i := range results {
			wg.Add(1)
			generators.Go(yield, func(_ context.Context, yield generators.Yield) {
				defer wg.Done()
				<-turn[i]
				first, _ := r.do(yield, "load", fmt.Sprint("own", i))
				if i < 2 {
					close(turn[i+1])
				}
				last, _ := r.do(yield, fmt.Sprint("last", i))
				results[i] = strings.Join(append(first, last...), " ")
			})
		}
		wg.Wait()
		return strings.Join(results[:], "; "), nil
	}
	begin := func(order ...int) {
		for i := range turn {
			turn[i] = make(chan struct{})
		}
		close(turn[0])
	}
	begin()
	b := newTestEngine(t, r.photon())
	id := b.startRun("release", "")
	_, want := b.answerAll(id)
	r.take()
	begin()
	fork := b.fork(id, math.MaxUint64, "")
	if _, f := b.answerAll(fork); string(f.Result) != string(want.Result) || r.take() != "" {
		t.Errorf("finished %s, want %s", f.Result, want.Result)
	}
	begin()
	fork = b.fork(id, b.seqOf(id, "own1"), "")
	b.answerAll(fork)
	if ran := r.take(); !strings.Contains(ran, "own2") || strings.Contains(ran, "own0") || strings.Contains(ran, "own1") || len(b.differs(fork)) > 0 {
		t.Errorf("the steps %q ran, and the log says %q", ran, b.differs(fork))
	}
}

// A sleep ends when it did in the earlier run, or when it is to end there.
func TestForkOfSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &release{}
		r.code = func(r *release, _ releaseInput, yield generators.Yield) (string, error) {
			r.do(yield, "before")
			for _, key := range []string{"night", "day"} {
				if err := generators.Sleep(yield, key, 8*time.Hour); err != nil {
					return "", err
				}
			}
			r.do(yield, "after")
			return "", nil
		}
		b := newTestEngine(t, r.photon())
		began := time.Now()
		id := b.startRun("release", "")
		time.Sleep(12 * time.Hour)
		r.take()
		fork := b.fork(id, math.MaxUint64, "")
		time.Sleep(time.Minute)
		if info := b.state(fork); info.State != engine.Sleeping || !info.Wakes.Equal(began.Add(16*time.Hour)) {
			t.Errorf("the fork is %s until %s", info.State, info.Wakes)
		}
		if f := b.sleepUntilEnd(fork); f.Status != runlog.Completed {
			t.Errorf("finished = %+v", f)
		}
		b.sleepUntilEnd(id)
		if ran := r.take(); ran != "after after" {
			t.Errorf("the steps %q ran", ran)
		}
	})
}

// What follows a question that is answered in another way, or wasn't answered at all, isn't
// taken.
func TestForkWithoutAnAnswerToTake(t *testing.T) {
	byOther := func(yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?", ask.From(ask.Role("boss")))
	}
	late := func(yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?", ask.Timeout(time.Minute))
	}
	boss := generators.Caller{ID: "boss", Roles: []string{"boss", generators.RoleOperator}}
	for name, question := range map[string]func(generators.Yield) (string, error){"by another": byOther, "expired": late} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &release{}
				r.code = func(r *release, _ releaseInput, yield generators.Yield) (string, error) {
					r.do(yield, "before")
					said, err := question(yield)
					if err != nil && !errors.Is(err, ask.ErrTimeout) {
						return "", err
					}
					r.do(yield, "after")
					return said, nil
				}
				b := newTestEngine(t, r.photon())
				id := b.startRun("release", "")
				answer := func(id, content string) {
					askID, _ := b.waitForAsk(id, 0)
					time.Sleep(time.Second)
					if err := b.Answer(t.Context(), boss, askID, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}, "test"); err != nil {
						t.Fatal(err)
					}
				}
				if name == "by another" {
					answer(id, `{"name":"Ada"}`)
				}
				b.sleepUntilEnd(id)
				r.take()
				fork := b.fork(id, math.MaxUint64, "")
				answer(fork, `{"name":"Eve"}`)
				if f := b.sleepUntilEnd(fork); string(f.Result) != `"Eve"` {
					t.Errorf("finished = %+v", f)
				}
				if ran := r.take(); ran != "after" {
					t.Errorf("the steps %q ran", ran)
				}
			})
		})
	}
}

// A request to fork a run until another entry isn't the same request.
func TestForkRequestsDifferByTheirPoints(t *testing.T) {
	r := &release{code: doing("plan", "mail", "name?")}
	b := newTestEngine(t, r.photon())
	id := b.startRun("release", "")
	b.answerAll(id)
	request := engine.StartRequest{IdempotencyKey: "once", Surface: "test"}
	first, err := b.Fork(t.Context(), me, id, math.MaxUint64, nil, request)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Fork(t.Context(), me, id, math.MaxUint64, nil, request); err != nil || again.ID != first.ID {
		t.Errorf("repeated: %s, %v; want %s", again.ID, err, first.ID)
	}
	if _, err := b.Fork(t.Context(), me, id, 1, nil, request); !errors.Is(err, engine.ErrIdempotencyKeyReused) {
		t.Errorf("until another entry: %v", err)
	}
}
