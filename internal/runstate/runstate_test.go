package runstate_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/runstate"
)

// states are the states of each example after its entries.
var states = map[string]string{
	"completed": "running running running running running running running running completed",
	"answered":  "running running running waiting waiting running completed",
	"two questions, one of which is withdrawn at the end": "running running waiting waiting waiting running stopped",
	"questions of every kind":                             "running running" + strings.Repeat(" waiting running", len(askdata.Kinds())) + " completed",
	"a model replies":                                     "running running waiting waiting waiting waiting running unanswered",
	"a step is repeated, then it sleeps":                  "running running running running running running running sleeping running completed",
	"it is parked, and goes on":                           "running running waiting parked waiting running completed",
	"it waits for another run, and is interrupted":        "running running running interrupted",
	"it fails, with an entry of a later version":          "running running running failed",
}

func TestStates(t *testing.T) {
	for _, x := range runlogtest.Examples() {
		var r runstate.Run
		var got []string
		for _, e := range x.Entries {
			if _, err := r.Apply(e); err != nil {
				t.Errorf("%s: %v", x.Name, err)
			}
			got = append(got, string(r.State))
		}
		if want := states[x.Name]; strings.Join(got, " ") != want {
			t.Errorf("%s: the states are %v, want %s", x.Name, got, want)
		}
		if r.Last != uint64(len(x.Entries)) || r.Start.Photon != "greet" || r.Start.Args != nil || r.EndedAt.IsZero() {
			t.Errorf("%s: it became %+v", x.Name, r)
		}
	}
}

// apply returns what the first n entries of an example lead to, and the change of the last.
func apply(t *testing.T, name string, n int) (*runstate.Run, runstate.Change) {
	t.Helper()
	examples := runlogtest.Examples()
	i := slices.IndexFunc(examples, func(x runlogtest.Example) bool { return x.Name == name })
	var r runstate.Run
	var c runstate.Change
	for _, e := range examples[i].Entries[:n] {
		c, _ = r.Apply(e)
	}
	return &r, c
}

func TestQuestions(t *testing.T) {
	r, c := apply(t, "answered", 4)
	if a := r.FindAsk(4); a == nil || a != c.Opened || a.Deadline.IsZero() || r.HasNewEvents || r.TimeSpent != time.Second {
		t.Errorf("after a question: %+v, %+v", r, c)
	}
	r, c = apply(t, "answered", 6)
	if c.Settled == nil || c.Settled.Seq != 4 || r.FindAsk(4) != nil || !r.HasNewEvents || r.Adopter.ID != "ada" {
		t.Errorf("after its answer: %+v, %+v", r, c)
	}
	if c, err := r.Apply(answerOf(4, 7)); err != nil || c.Settled != nil || r.State != runstate.Running {
		t.Errorf("after a second answer: %+v, %v", c, err)
	}
	if r, c = apply(t, "two questions, one of which is withdrawn at the end", 5); r.FindAsk(4) != nil || c.Settled.Seq != 4 || r.FindAsk(3) == nil {
		t.Errorf("after the answer to the second of two: %+v, %+v", r, c)
	}
	if r, _ = apply(t, "a model replies", 4); !r.Asks[0].Calling || r.Asks[0].Call != 1 {
		t.Errorf("a model is called: %+v", r.Asks[0])
	}
	if r, _ = apply(t, "a model replies", 6); r.Asks[0].Calling {
		t.Errorf("the model's call has ended: %+v", r.Asks[0])
	}
}

func answerOf(ask, seq uint64) runlog.Entry {
	e := runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: ask})
	e.Seq = seq
	return e
}

func TestQueueSleepsAndRepeats(t *testing.T) {
	if r, _ := apply(t, "it waits for another run, and is interrupted", 2); !r.Queued || r.State != runstate.Running {
		t.Errorf("in the queue: %+v", r)
	}
	if r, c := apply(t, "it waits for another run, and is interrupted", 3); r.Queued || !c.LeftQueue || !c.Superseded || r.Epoch != 1 {
		t.Errorf("after the queue: %+v, %+v", r, c)
	}
	if r, _ := apply(t, "a step is repeated, then it sleeps", 4); !reflect.DeepEqual(r.Attempts["copy"].Events, [][2]uint64{{3, 3}}) {
		t.Errorf("before the step begins again: %+v", r)
	}
	if r, _ := apply(t, "a step is repeated, then it sleeps", 5); len(r.Attempts) > 0 {
		t.Errorf("when the step begins again: %+v", r)
	}
	if r, c := apply(t, "a step is repeated, then it sleeps", 8); c.FellAsleep == nil || r.FindSleep(8) != c.FellAsleep || r.Repeated["copy"] != 5 {
		t.Errorf("asleep: %+v, %+v", r, c)
	}
	if r, c := apply(t, "a step is repeated, then it sleeps", 9); c.Woke == nil || r.FindSleep(8) != nil || r.State != runstate.Running {
		t.Errorf("awake: %+v, %+v", r, c)
	}
}

func TestEntriesThatCanNotFollow(t *testing.T) {
	r, _ := apply(t, "completed", 9)
	if _, err := r.Apply(numbered(10, runlog.Entry{Kind: "status", Data: json.RawMessage(`{}`)})); err == nil || !strings.Contains(err.Error(), "the run was completed") {
		t.Errorf("an event after the end: %v", err)
	}
	r, _ = apply(t, "completed", 2)
	if _, err := r.Apply(numbered(3, runlog.NewEntry(runlog.KindStarted, runlog.Started{}))); err == nil {
		t.Error("a run starts twice")
	}
	if _, err := new(runstate.Run).Apply(numbered(1, runlog.Entry{Kind: "status"})); err == nil || !strings.Contains(err.Error(), "the run was not started") {
		t.Errorf("an event before the start: %v", err)
	}
	if _, err := r.Apply(numbered(4, runlog.Entry{Kind: runlog.KindAsked, Data: json.RawMessage(`[]`)})); err == nil {
		t.Error("a question that can't be decoded")
	}
}

func numbered(seq uint64, e runlog.Entry) runlog.Entry {
	e.Seq = seq
	return e
}

// FuzzTransitions applies entries in any order, some of which have any data: each changes the
// state as Transitions says, or is refused.
func FuzzTransitions(f *testing.F) {
	f.Add([]byte{0, 2, 3, 3, 4, 5, 6, 7, 12}, []byte(nil))
	f.Add([]byte{0, 1, 2, 6, 3, 7, 4, 13, 0, 3}, []byte(nil))
	f.Add([]byte{0, 15, 31, 47, 63, 79, 12}, []byte(`{"ask":1,"sleep":1,"step":"k","events":[[0,9]]}`))
	f.Fuzz(func(t *testing.T, choices, data []byte) {
		var r runstate.Run
		for i, c := range choices {
			e := numbered(uint64(i)+1, entryOf(c, uint64(i)))
			if c%16 == 15 {
				e = numbered(e.Seq, runlog.Entry{Kind: anyKind(c / 16), Data: data})
			}
			from := r.State
			_, err := r.Apply(e)
			if r.Last != e.Seq {
				t.Fatalf("the last entry is %d, not %d", r.Last, e.Seq)
			}
			allowed, undecodable := isAllowed(e.Kind, from, r.State), c%16 == 15 && err != nil
			if allowed != (err == nil) && !undecodable {
				t.Fatalf("entry %d (%s) leads from %q to %q: %v", e.Seq, e.Kind, from, r.State, err)
			}
			if from.Ended() && from != "" && r.State != from && err == nil {
				t.Fatalf("the run went on after its end, from %s to %s", from, r.State)
			}
			if r.State != "" && !slices.Contains(runstate.States[:], r.State) {
				t.Fatalf("entry %d (%s) leads to the state %q", e.Seq, e.Kind, r.State)
			}
		}
	})
}

// anyKind returns one of the kinds that the engine records.
func anyKind(choice byte) runlog.Kind {
	kinds := runlog.EntryKinds()
	return kinds[int(choice)%len(kinds)]
}

// entryOf returns one of some entries, which refer to those shortly before.
func entryOf(choice byte, before uint64) runlog.Entry {
	back := max(before, uint64(choice/16)) - uint64(choice/16)
	statuses := []runlog.FinishStatus{runlog.Completed, runlog.Failed, runlog.Stopped, runlog.Interrupted, runlog.Unanswered}
	switch choice % 16 {
	case 0:
		return runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p"})
	case 1:
		return runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "k"})
	case 2:
		return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: int(choice / 16)})
	case 3, 8, 9:
		return runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &askdata.Question{Kind: askdata.KindText}})
	case 4:
		return answerOf(back, 0)
	case 5:
		return runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: back})
	case 6, 10:
		return runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "k"})
	case 7:
		return runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: back})
	case 11:
		return runlog.NewEntry(runlog.KindStepped, runlog.Stepped{Key: "k"})
	case 12:
		return runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: statuses[int(choice/16)%len(statuses)]})
	case 13:
		return runlog.NewEntry(runlog.KindAdopted, runlog.Adopted{By: generators.Caller{ID: "ada"}})
	}
	return runlog.NewEntry("status", &generators.StatusEvent{Text: "s"})
}

// isAllowed reports whether Transitions has a change of state, or nothing changed in a run
// that has started and not ended.
func isAllowed(kind runlog.Kind, from, to runstate.State) bool {
	for _, tr := range runstate.Transitions {
		if tr.Kind == kind && slices.Contains(tr.From, from) && slices.Contains(tr.To, to) {
			return true
		}
	}
	return from == to && !from.Ended() && kind != runlog.KindStarted && kind != runlog.KindFinished
}
