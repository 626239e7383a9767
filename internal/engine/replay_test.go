package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// answerByKey has a valid answer for every question of the photons under test.
var answerByKey = map[string]string{
	"name": `{"name":"Ada"}`, "account": `{"email":"ada@example.org","role":"admin"}`, "confirm": `{"confirm":true}`,
	"partySize": `{"partySize":4}`, "preferences": `{"outputFormat":"json"}`,
	"form": `{"name":"Ada","email":"ada@example.org"}`, "environment": `{"environment":"dev"}`,
	"color": `{"color":"red"}`, "number": `{"number":7}`,
	"text": `{"text":"A long story."}`, "summary": `{"role":"assistant","content":{"type":"text","text":"Short."},"model":"m"}`,
	"first": `{"first":"one"}`, "second": `{"second":"two"}`,
}

// answerUntilEnd answers a run's questions until it ends.
func (b *testEngine) answerUntilEnd(id string) runlog.Finished {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), programtest.WaitTimeout)
	defer cancel()
	batches, err := b.Follow(ctx, me, id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			b.t.Fatalf("after %v: %v", kindsOf(b.entries(id)), err)
		}
		for _, e := range batch {
			if e.Kind == runlog.KindAsked {
				b.answerIfOpen(id, e)
			}
		}
	}
	return b.waitForEnd(id)
}

func (b *testEngine) answerIfOpen(id string, e runlog.Entry) {
	b.t.Helper()
	a, err := runlog.Decode[runlog.Asked](e)
	if err != nil {
		b.t.Fatal(err)
	}
	key, _, _ := strings.Cut(a.Key, "#")
	content, ok := answerByKey[key]
	if !ok {
		b.t.Fatalf("the test has no answer for %q", a.Key)
	}
	answer := askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(content)}
	err = b.Answer(b.t.Context(), me, runlog.AskID(id, e.Seq), answer, "test")
	if err != nil && err != engine.ErrSettled {
		b.t.Fatal(err)
	}
}

// logWithPrefix returns a log with the first n entries of a run, as after a crash.
func logWithPrefix(t *testing.T, entries []runlog.Entry, n int) runlog.Log {
	t.Helper()
	l := newTestLog()
	if _, err := l.Append(t.Context(), crashedRunID, 0, entries[:n]...); err != nil {
		t.Fatal(err)
	}
	return l
}

const crashedRunID = "c0ffee00000000000000000000000000"

// Every durable photon, resumed from every prefix of its log, reaches the same
// end with the same entries: no step runs twice, no event is recorded twice,
// and no answered question is asked again.
func TestReplayFromEveryPrefix(t *testing.T) {
	var effects atomic.Int64
	photons := append(shipped.Photons(), newStepperPhoton(&effects))
	args := map[string]string{"book_dinner": `{"date":"2026-11-22","time":"19:00"}`, "burst": `{"events":25}`}
	for _, p := range photons {
		// The steps of disk_usage and explore_csv report progress, again if they are cut, and
		// need a folder and a file. Their own tests replay them from each call.
		if name := p.Name(); !p.Options().Durable || name == "disk_usage" || name == "explore_csv" {
			continue
		}
		t.Run(p.Name(), func(t *testing.T) {
			original := newTestEngine(t, photons...)
			id := original.startRun(p.Name(), args[p.Name()])
			if f := original.answerUntilEnd(id); f.Status != runlog.Completed {
				t.Fatalf("finished = %+v", f)
			}
			entries := original.entries(id)
			for n := 1; n < len(entries); n++ {
				checkReplayFrom(t, photons, entries, n)
			}
		})
	}
	if n := effects.Load(); n == 0 {
		t.Error("no step ran")
	}
}

func checkReplayFrom(t *testing.T, photons []*generators.Photon, entries []runlog.Entry, n int) {
	t.Helper()
	o := testOptions(t, photons...)
	o.Log = logWithPrefix(t, entries, n)
	b := openTestEngine(t, o)
	f := b.answerUntilEnd(crashedRunID)
	if f.Status != runlog.Completed {
		t.Errorf("from entry %d: finished = %+v", n, f)
		return
	}
	got := withoutClaims(b.entries(crashedRunID))
	want := withoutClaims(entries)
	gotKinds, wantKinds := kindsOf(got), kindsOf(want)
	switch photon, err := runlog.Decode[runlog.Started](entries[0]); {
	case err != nil:
		t.Fatal(err)
	case photon.Photon == "parallel": // its progress depends on the time
		bar := func(k runlog.Kind) bool { return k == "progress" }
		gotKinds, wantKinds = slices.DeleteFunc(gotKinds, bar), slices.DeleteFunc(wantKinds, bar)
		fallthrough
	case photon.Photon == "stepper": // questions that are open at once are settled in any order
		slices.Sort(gotKinds)
		slices.Sort(wantKinds)
	}
	if !slices.Equal(gotKinds, wantKinds) {
		t.Errorf("from entry %d, the log is\n%v, want\n%v", n, kindsOf(got), kindsOf(want))
	}
	if n >= 3 && !slices.Equal(recordedOutcomes(got, n), recordedOutcomes(want, n)) {
		t.Errorf("from entry %d, recorded entries have changed", n)
	}
}

func withoutClaims(entries []runlog.Entry) []runlog.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e runlog.Entry) bool { return e.Kind == runlog.KindClaimed })
}

// recordedOutcomes returns the step outcomes among the first n entries.
func recordedOutcomes(entries []runlog.Entry, n int) []string {
	var list []string
	for _, e := range entries[:min(n-1, len(entries))] {
		list = append(list, string(e.Kind)+string(e.Data))
	}
	return list
}

// newStepperPhoton returns a durable photon that is hard to replay, with steps that
// succeed and fail, repeated keys, several questions at once, and events in between.
func newStepperPhoton(effects *atomic.Int64) *generators.Photon {
	return newPhoton("stepper", func(_ context.Context, yield generators.Yield) (string, error) {
		var results []string
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
			results = append(results, fmt.Sprint(name, n > 0))
		}
		_, err := generators.Step(yield, "fails", func(context.Context) (int, error) { return 0, fmt.Errorf("no luck") })
		results = append(results, err.Error())
		var first, second string
		err = ask.All(yield, ask.ForText("first", "First?").Into(&first), ask.ForText("second", "Second?").Into(&second))
		yield(generators.Status("both"))
		yield(generators.Progress(1, 1, ""))
		return strings.Join(append(results, first, second), " "), err
	}, &generators.Options{Durable: true})
}

func TestStepIsNotRepeated(t *testing.T) {
	var effects atomic.Int64
	p := newStepperPhoton(&effects)
	o := testOptions(t, p)
	b := openTestEngine(t, o)
	id := b.startRun("stepper", "")
	_, seq := b.waitForAsk(id, 0)
	b.closeNow()
	if n := effects.Load(); n != 1 {
		t.Fatalf("%d effects before the restart", n)
	}
	again := openTestEngine(t, o)
	askID, sameSeq := again.waitForAsk(id, 0)
	if sameSeq != seq {
		t.Errorf("the question is entry %d after the restart, and was entry %d", sameSeq, seq)
	}
	open, err := again.Engine.OpenAsk(t.Context(), me, askID)
	if err != nil || open.Key != "name" {
		t.Errorf("open = %+v, %v", open, err)
	}
	if f := again.answerUntilEnd(id); f.Status != runlog.Completed {
		t.Errorf("finished = %+v", f)
	}
	if n := effects.Load(); n != 2 {
		t.Errorf("%d effects in all, want 2", n)
	}
}

func TestRestartInterruptsNonDurableRuns(t *testing.T) {
	p := newPhoton("fleeting", func(_ context.Context, yield generators.Yield) (string, error) {
		return ask.Text(yield, "name", "Name?")
	}, nil)
	o := testOptions(t, p)
	o.Log = logWithPrefix(t, []runlog.Entry{
		runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "fleeting", Owner: me.ID, Args: json.RawMessage("{}")}),
		runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name", Question: &askdata.Question{Kind: askdata.KindText}}),
	}, 2)
	b := openTestEngine(t, o)
	if f := b.waitForEnd(crashedRunID); f.Status != runlog.Interrupted {
		t.Errorf("finished = %+v", f)
	}
	if got := kindsOf(b.entries(crashedRunID)); !slices.Equal(got[2:], []runlog.Kind{"withdrawn", "finished"}) {
		t.Errorf("log = %v", got)
	}
	if b.CountOpenAsks(me) != 0 {
		t.Error("the question is still open")
	}
}

// A replay that differs names the call and says whether the program has changed since the
// call was recorded, or the tool isn't deterministic.
func TestReplayThatDiffersNamesCallAndCause(t *testing.T) {
	recordedBy := func(program string) []runlog.Entry {
		return []runlog.Entry{
			runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "changed", Durable: true, Owner: me.ID, Args: json.RawMessage("{}")}),
			runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1, Program: program}),
			runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "name", Question: &askdata.Question{Kind: askdata.KindText}}),
			runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 3, Answer: askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}}),
			runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "charge", Value: json.RawMessage("1")}),
		}
	}
	causes := map[string]string{ // by the program that recorded the calls
		"this program":    "the tool is not deterministic: ",
		"another program": "the tool has changed since this run began: ",
		"":                "the tool has changed since this run began, or it is not deterministic: ",
	}
	tests := []struct {
		name string
		fn   func(context.Context, generators.Yield) (any, error)
		want string
	}{
		{"another key", func(_ context.Context, y generators.Yield) (any, error) {
			return ask.Text(y, "email", "Email?")
		}, `now makes the call "email" (text), but the log has "name" (text), then "charge" (step)`},
		{"another kind", func(_ context.Context, y generators.Yield) (any, error) {
			return ask.Integer(y, "name", "Number?")
		}, `the kind of call "name" is now integer, but the log has text`},
		{"a call is gone", func(_ context.Context, y generators.Yield) (any, error) {
			return ask.Text(y, "name", "Name?")
		}, `without making "charge" (step)`},
	}
	for _, tt := range tests {
		for program, cause := range causes {
			t.Run(tt.name+" of "+program, func(t *testing.T) {
				o := testOptions(t, newPhoton("changed", tt.fn, &generators.Options{Durable: true}))
				old := recordedBy(program)
				o.Log = logWithPrefix(t, old, len(old))
				b := openTestEngine(t, o)
				p := b.waitForParked(crashedRunID)
				if p.Reason != runlog.ParkedChanged || !strings.HasPrefix(p.Detail, cause) || !strings.Contains(p.Detail, tt.want) {
					t.Errorf("parked = %+v, want %q and %q", p, cause, tt.want)
				}
				if program != "another program" && !strings.Contains(p.Detail, "Usual causes are a clock, a random number") {
					t.Errorf("the text names no causes: %s", p.Detail)
				}
			})
		}
	}
}
