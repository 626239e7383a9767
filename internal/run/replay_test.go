package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// answers accept any question of the photons under test.
var answers = map[string]string{
	"name": `{"name":"Ada"}`, "account": `{"email":"ada@example.org","role":"admin"}`, "confirm": `{"confirm":true}`,
	"partySize": `{"partySize":4}`, "preferences": `{"outputFormat":"json"}`,
	"form": `{"name":"Ada","email":"ada@example.org"}`, "environment": `{"environment":"dev"}`,
	"color": `{"color":"red"}`, "number": `{"number":7}`,
	"text": `{"text":"A long story."}`, "summary": `{"role":"assistant","content":{"type":"text","text":"Short."},"model":"m"}`,
	"first": `{"first":"one"}`, "second": `{"second":"two"}`,
}

// complete answers a run's questions until it ends.
func (b *bench) complete(id string) log.Finished {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	batches, err := b.Follow(ctx, me, id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatalf("after %v: %v", kinds(b.entries(id)), err)
		}
		for _, e := range batch {
			if e.Kind == log.KindAsked {
				b.answerIfOpen(id, e)
			}
		}
	}
	return b.finished(id)
}

func (b *bench) answerIfOpen(id string, e log.Entry) {
	b.t.Helper()
	a, err := log.As[log.Asked](e)
	if err != nil {
		b.t.Fatal(err)
	}
	key, _, _ := strings.Cut(a.Key, "#")
	content, ok := answers[key]
	if !ok {
		b.t.Fatalf("the test has no answer for %q", a.Key)
	}
	answer := ask.Answer{Action: ask.Accept, Content: json.RawMessage(content)}
	err = b.Answer(b.t.Context(), me, log.AskID(id, e.Seq), answer, "test")
	if err != nil && err != run.ErrSettled {
		b.t.Fatal(err)
	}
}

// prefix is a log with the first n entries of another run, as a crash leaves it.
func prefix(t *testing.T, entries []log.Entry, n int) log.Log {
	t.Helper()
	l := newLog()
	if _, err := l.Append(t.Context(), crashed, 0, entries[:n]...); err != nil {
		t.Fatal(err)
	}
	return l
}

const crashed = "c0ffee00000000000000000000000000"

// Every durable photon, taken up from every prefix of its log, comes to the
// same end by the same entries: no step runs twice, no event is told twice, no
// question is asked again that was answered.
func TestReplayFromEveryPrefix(t *testing.T) {
	var effects atomic.Int64
	photons := append(shipped.Photons(), stepper(&effects))
	args := map[string]string{"book_dinner": `{"date":"2026-11-22","time":"19:00"}`, "burst": `{"events":25}`}
	for _, p := range photons {
		if !p.Options().Durable {
			continue
		}
		t.Run(p.Name(), func(t *testing.T) {
			whole := newBench(t, photons...)
			id := whole.start(p.Name(), args[p.Name()])
			if f := whole.complete(id); f.Status != log.Completed {
				t.Fatalf("finished = %+v", f)
			}
			entries := whole.entries(id)
			for n := 1; n < len(entries); n++ {
				replayFrom(t, photons, entries, n)
			}
		})
	}
	if n := effects.Load(); n == 0 {
		t.Error("no step ran")
	}
}

func replayFrom(t *testing.T, photons []*generators.Photon, entries []log.Entry, n int) {
	t.Helper()
	o := options(t, photons...)
	o.Log = prefix(t, entries, n)
	b := open(t, o)
	f := b.complete(crashed)
	if f.Status != log.Completed {
		t.Errorf("from entry %d: finished = %+v", n, f)
		return
	}
	got := withoutClaims(b.entries(crashed))
	want := withoutClaims(entries)
	gotKinds, wantKinds := kinds(got), kinds(want)
	switch photon, err := log.As[log.Started](entries[0]); {
	case err != nil:
		t.Fatal(err)
	case photon.Photon == "parallel": // its bar goes by the clock
		bar := func(k log.Kind) bool { return k == "progress" }
		gotKinds, wantKinds = slices.DeleteFunc(gotKinds, bar), slices.DeleteFunc(wantKinds, bar)
		fallthrough
	case photon.Photon == "stepper": // some of its questions are open at once: they are settled in any order
		slices.Sort(gotKinds)
		slices.Sort(wantKinds)
	}
	if !slices.Equal(gotKinds, wantKinds) {
		t.Errorf("from entry %d the log is\n%v, want\n%v", n, kinds(got), kinds(want))
	}
	if n >= 3 && !slices.Equal(recorded(got, n), recorded(want, n)) {
		t.Errorf("from entry %d what was recorded has changed", n)
	}
}

func withoutClaims(entries []log.Entry) []log.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e log.Entry) bool { return e.Kind == log.KindClaimed })
}

// recorded are the outcomes among the first n entries.
func recorded(entries []log.Entry, n int) []string {
	var list []string
	for _, e := range entries[:min(n-1, len(entries))] {
		list = append(list, string(e.Kind)+string(e.Data))
	}
	return list
}

// stepper is durable and has all that makes replay hard: steps that succeed and
// fail, repeated keys, several questions at once, events in between.
func stepper(effects *atomic.Int64) *generators.Photon {
	return photon("stepper", func(_ context.Context, yield generators.Yield) (string, error) {
		var said []string
		for i := range 2 {
			yield(generators.Statusf("round %d", i))
			n, err := generators.Step(yield, "count", func(context.Context) (int64, error) { return effects.Add(1), nil })
			if err != nil {
				return "", err
			}
			yield(generators.Statusf("counted"))
			name, err := ask.Text(yield, "name", "Name?")
			if err != nil {
				return "", err
			}
			said = append(said, fmt.Sprint(name, n > 0))
		}
		_, err := generators.Step(yield, "fails", func(context.Context) (int, error) { return 0, fmt.Errorf("no luck") })
		said = append(said, err.Error())
		var first, second string
		err = ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
		yield(generators.Status("both"))
		yield(generators.Progress(1, 1, ""))
		return strings.Join(append(said, first, second), " "), err
	}, &generators.Options{Durable: true})
}

func TestAStepIsNotRepeated(t *testing.T) {
	var effects atomic.Int64
	p := stepper(&effects)
	o := options(t, p)
	b := open(t, o)
	id := b.start("stepper", "")
	_, seq := b.asked(id, 0)
	b.close()
	if n := effects.Load(); n != 1 {
		t.Fatalf("%d effects before the restart", n)
	}
	again := open(t, o)
	askID, sameSeq := again.asked(id, 0)
	if sameSeq != seq {
		t.Errorf("the question is entry %d now, was %d", sameSeq, seq)
	}
	open, err := again.Engine.Ask(t.Context(), me, askID)
	if err != nil || open.Key != "name" {
		t.Errorf("open = %+v, %v", open, err)
	}
	if f := again.complete(id); f.Status != log.Completed {
		t.Errorf("finished = %+v", f)
	}
	if n := effects.Load(); n != 2 {
		t.Errorf("%d effects in all, want 2", n)
	}
}

func TestRestartInterruptsWhatIsNotDurable(t *testing.T) {
	p := photon("fleeting", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, nil)
	o := options(t, p)
	o.Log = prefix(t, []log.Entry{
		log.New(log.KindStarted, log.Started{Photon: "fleeting", Owner: me.Owner(), Args: json.RawMessage("{}")}),
		log.New(log.KindAsked, log.Asked{Key: "name", Question: &ask.Question{Kind: ask.KindText}}),
	}, 2)
	b := open(t, o)
	if f := b.finished(crashed); f.Status != log.Interrupted {
		t.Errorf("finished = %+v", f)
	}
	if got := kinds(b.entries(crashed)); !slices.Equal(got[2:], []log.Kind{"withdrawn", "finished"}) {
		t.Errorf("log = %v", got)
	}
	if b.OpenAsks(me) != 0 {
		t.Error("the question is still open")
	}
}

func TestAChangedPhotonFailsAndSaysWhichCallDiffers(t *testing.T) {
	old := []log.Entry{
		log.New(log.KindStarted, log.Started{Photon: "changed", Durable: true, Owner: me.Owner(), Args: json.RawMessage("{}")}),
		log.New(log.KindAsked, log.Asked{Key: "name", Question: &ask.Question{Kind: ask.KindText}}),
		log.New(log.KindAnswered, log.Answered{Ask: 2, Answer: ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}}),
		log.New(log.KindStepped, log.Stepped{Key: "charge", Value: json.RawMessage("1")}),
	}
	tests := []struct {
		name string
		fn   func(context.Context, generators.Yield) (any, error)
		want string
	}{
		{"another key", func(_ context.Context, y generators.Yield) (any, error) {
			return ask.Text(y, "email", "E-mail?")
		}, `the text "email" now, where the text "name", then the step "charge" was recorded`},
		{"another kind", func(_ context.Context, y generators.Yield) (any, error) {
			return ask.Integer(y, "name", "Number?")
		}, `"name" is a integer now, where a text was recorded`},
		{"a call is gone", func(_ context.Context, y generators.Yield) (any, error) {
			return ask.Text(y, "name", "Name?")
		}, `without coming to the step "charge"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, photon("changed", tt.fn, &generators.Options{Durable: true}))
			o.Log = prefix(t, old, len(old))
			b := open(t, o)
			if f := b.finished(crashed); f.Status != log.Failed || !strings.Contains(f.Error, tt.want) {
				t.Errorf("finished = %+v, want %q", f, tt.want)
			}
		})
	}
}
