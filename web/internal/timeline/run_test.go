package timeline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

var startTime = time.Date(2026, 3, 4, 19, 0, 0, 0, time.UTC)

// A logWriter applies entries to a run, one per second.
type logWriter struct {
	run  *Run
	last uint64
}

func newLogWriter() *logWriter {
	w := &logWriter{run: New("7f3c00000000000000000000000000a1")}
	w.add(runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "wizard", Title: "Wizard", Surface: "browser", Args: json.RawMessage(`{"a":1}`)}))
	return w
}

func (w *logWriter) add(e runlog.Entry) Change {
	w.last++
	e.Seq, e.Time = w.last, startTime.Add(time.Duration(w.last)*time.Second)
	return w.run.Apply(e)
}

func (w *logWriter) event(e generators.Event) Change {
	kind, data, err := driver.Encode(e)
	if err != nil {
		panic(err)
	}
	return w.add(runlog.Entry{Kind: runlog.Kind(kind), Data: data})
}

func (w *logWriter) ask(q *askdata.Question) uint64 {
	w.add(runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: q}))
	return w.last
}

func (w *logWriter) answer(seq uint64, a askdata.Answer) Change {
	return w.add(runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: a, Surface: "terminal"}))
}

func textQuestion(key string) *askdata.Question {
	return &askdata.Question{Kind: askdata.KindText, Message: "?", Fields: askdata.Fields{{Name: key, Type: "string"}}}
}

// When a step begins again, what it has shown is removed, and nothing else.
func TestRepeatedStep(t *testing.T) {
	w := newLogWriter()
	inStep := func(e generators.Event, step string) {
		kind, data, _ := driver.Encode(e)
		w.add(runlog.Entry{Kind: runlog.Kind(kind), Data: data, Step: step})
	}
	inStep(generators.Chunk("before "), "")
	inStep(generators.Chunk("one "), "tell")
	inStep(generators.Chunk("two "), "tell")
	inStep(generators.Status("half"), "tell")
	c := w.add(runlog.NewEntry(runlog.KindRepeated, runlog.Repeated{Key: "tell", Superseded: [][2]uint64{{3, 5}}}))
	if !slices.Equal(c.Superseded, []uint64{3, 4, 5}) {
		t.Errorf("superseded %v", c.Superseded)
	}
	inStep(generators.Chunk("one two three"), "tell")
	var texts []string
	for _, i := range w.run.Items[1:] {
		texts = append(texts, i.Text+i.ChunkText())
	}
	want := []string{"before ", `The step "tell" begins again: disregard what it has shown so far`, "one two three"}
	if !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
}

// A sleep is a status in effect, and says when it ends.
func TestSleep(t *testing.T) {
	w := newLogWriter()
	until := startTime.Add(8 * time.Hour)
	c := w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "night", Until: until}))
	if !c.StateChanged || w.run.State != engine.Sleeping || !w.run.Wakes.Equal(until) || c.Item.Text != "Sleeps until 2026-03-05 03:00:00 UTC" {
		t.Errorf("the run is %s until %s, with the row %+v", w.run.State, w.run.Wakes, c.Item)
	}
	seq := w.last
	asked := w.ask(textQuestion("k"))
	if w.run.State != engine.Waiting {
		t.Errorf("with a question, the run is %s", w.run.State)
	}
	if c = w.answer(asked, askdata.Answer{Action: askdata.Decline}); w.run.State != engine.Sleeping {
		t.Errorf("with the question settled, the run is %s", w.run.State)
	}
	c = w.add(runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: seq}))
	if !c.StateChanged || w.run.State != engine.Running || c.Item.Text != "Slept until 2026-03-05 03:00:00 UTC" || c.Item.Duration() != 3*time.Second {
		t.Errorf("the run is %s, with the row %+v", w.run.State, c.Item)
	}
	i := w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "day", Until: until})).Item
	c = w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Stopped}))
	if i.Text != "Would have slept until 2026-03-05 03:00:00 UTC" || !slices.Contains(c.AlsoChanged, i) {
		t.Errorf("after a stop, the row is %+v", i)
	}
}

// Of several sleeps, the one that ends first says until when the run sleeps.
func TestConcurrentSleeps(t *testing.T) {
	w := newLogWriter()
	soon, late := startTime.Add(time.Hour), startTime.Add(8*time.Hour)
	w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "soon", Until: soon}))
	seq := w.last
	if c := w.add(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{Key: "late", Until: late})); c.StateChanged || !w.run.Wakes.Equal(soon) {
		t.Errorf("with a later sleep, the run sleeps until %s", w.run.Wakes)
	}
	c := w.add(runlog.NewEntry(runlog.KindWoken, runlog.Woken{SleepSeq: seq}))
	if !c.StateChanged || w.run.State != engine.Sleeping || !w.run.Wakes.Equal(late) {
		t.Errorf("after the first, the run is %s until %s", w.run.State, w.run.Wakes)
	}
}

// A run that waits for another one says so until it begins, or ends before.
func TestQueued(t *testing.T) {
	w := newLogWriter()
	c := w.add(runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"}))
	if !c.StateChanged || !w.run.Queued() || w.run.State != engine.Running || c.Item.Text != `Waits for another run with the key "prod"` {
		t.Errorf("the run is %s, with the row %+v", w.run.State, c.Item)
	}
	c = w.add(runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1}))
	if !c.StateChanged || w.run.Queued() || c.Item.Text != `Waited for another run with the key "prod"` || c.Item.Duration() != time.Second {
		t.Errorf("when it begins, the row is %+v", c.Item)
	}
	w = newLogWriter()
	i := w.add(runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"})).Item
	c = w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Stopped}))
	if w.run.Queued() || !strings.HasPrefix(i.Text, "Waited for") || !slices.Contains(c.AlsoChanged, i) {
		t.Errorf("after a stop, the row is %+v", i)
	}
}

func TestStates(t *testing.T) {
	w := newLogWriter()
	check := func(state engine.State, open int) {
		t.Helper()
		if w.run.State != state || len(w.run.Open) != open {
			t.Errorf("after entry %d: %s with %d open asks; want %s with %d", w.last, w.run.State, len(w.run.Open), state, open)
		}
	}
	check(engine.Running, 0)
	one := w.ask(textQuestion("a"))
	two := w.ask(textQuestion("b"))
	check(engine.Waiting, 2)
	if w.run.Open[0].ID != runlog.AskID(w.run.ID, one) || w.run.Open[0].Photon != "wizard" || w.run.Open[0].Title != "Wizard" {
		t.Errorf("the first open ask is %+v", w.run.Open[0].OpenAsk)
	}
	if c := w.answer(two, askdata.Answer{Action: askdata.Decline}); c.StateChanged || !c.AsksChanged {
		t.Errorf("settling one of two asks changed %+v", c)
	}
	check(engine.Waiting, 1)
	if c := w.add(runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: one, Reason: runlog.Expired})); !c.StateChanged {
		t.Error("settling the last ask didn't change the run's state")
	}
	check(engine.Running, 0)
	w.event(generators.Progress(1, 2, "half"))
	three := w.ask(textQuestion("c"))
	c := w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Failed, Error: "no", TimeSpent: 7}))
	check(engine.Failed, 0)
	if !c.StateChanged || !c.ProgressChanged || !c.AsksChanged || len(c.AlsoChanged) != 1 || c.AlsoChanged[0].Seq != three {
		t.Errorf("the end changed %+v", c)
	}
	if w.run.Progress != nil || w.run.Error != "no" || w.run.Spent != 7 || w.run.Ended.IsZero() {
		t.Errorf("the run ended as %+v", w.run)
	}
	var states []AskState
	for _, i := range w.run.Items {
		if i.Kind == Asked {
			states = append(states, i.Ask.State)
		}
	}
	if want := []AskState{Expired, Declined, Withdrawn}; !slices.Equal(states, want) {
		t.Errorf("the asks are %v, want %v", states, want)
	}
}

func TestAnswerValues(t *testing.T) {
	form := &askdata.Question{Kind: askdata.KindForm, Fields: askdata.Fields{
		{Name: "name", Title: "Name", Type: "string"},
		{Name: "age", Type: "integer"},
		{Name: "role", Type: "string", Choices: []askdata.Choice{{Value: "dev", Title: "Developer"}}},
		{Name: "topics", Type: "array", Choices: []askdata.Choice{{Value: "a", Title: "Auth"}, {Value: "b"}}},
		{Name: "news", Type: "boolean"},
		{Name: "blank", Type: "string"},
		{Name: "pw", Type: "string", Format: askdata.FormatSecret},
	}}
	confirm := &askdata.Question{Kind: askdata.KindConfirm, Yes: "Delete", Fields: askdata.Fields{{Name: "go", Type: "boolean"}}}
	secret := &askdata.Question{Kind: askdata.KindSecret, Fields: askdata.Fields{{Name: "key", Type: "string", Format: askdata.FormatSecret}}}
	tests := []struct {
		q    *askdata.Question
		a    askdata.Answer
		want string
	}{
		{form, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"Ada","age":36,"role":"dev","topics":["a","b"],"news":false,"pw":"hunter2"}`)},
			"Name=Ada age=36 role=Developer topics=Auth, b news=No"},
		{confirm, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"go":true}`)}, "go=Delete"},
		{confirm, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"go":false}`)}, "go=No"},
		{secret, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"key":"hunter2"}`)}, ""},
		{&askdata.Question{Kind: askdata.KindFile}, askdata.Answer{Action: askdata.Accept, Files: []askdata.FileRef{{Name: "a.csv", Size: 1234}}}, "a.csv=1.2 kB"},
		{&askdata.Question{Kind: askdata.KindSample}, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"model":"m-1","role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"audio","data":"eA==","mimeType":"audio/wav"},{"type":"tool_use","id":"1","name":"look","input":{}},{"type":"x"}]}`)},
			"m-1=Hi\n[image, image/png, 1 byte]\n[audio, audio/wav, 1 byte]\n[tool call look: {}]\n[block of type x]"},
		{&askdata.Question{Kind: askdata.KindRoots}, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}`)}, "Folders=file:///a\nfile:///b"},
		{&askdata.Question{Kind: askdata.KindRoots}, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"roots":[]}`)}, "Folders=none"},
		{form, askdata.Answer{Action: askdata.Decline}, ""},
		{form, askdata.Answer{Action: askdata.Accept, Content: json.RawMessage(`{"name":"` + strings.Repeat("x", 5000) + `"}`)}, "Name=" + strings.Repeat("x", maxValueLength-len(" …")) + " …"},
	}
	for _, tt := range tests {
		w := newLogWriter()
		w.answer(w.ask(tt.q), tt.a)
		var got []string
		for _, v := range w.run.Items[1].Ask.Values {
			got = append(got, v.Label+"="+v.Text)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.q.Kind, s, tt.want)
		}
	}
}

func TestStatusDurations(t *testing.T) {
	w := newLogWriter()
	one := w.event(generators.Status("one")).Item
	w.event(generators.Status("one"))
	w.event(generators.Log(generators.Info, "a line ends no phase"))
	if one.Duration() != 0 {
		t.Errorf("an open status has the duration %v", one.Duration())
	}
	c := w.event(generators.Status("two"))
	if one.Duration() != 3*time.Second || len(c.AlsoChanged) != 1 || c.AlsoChanged[0] != one {
		t.Errorf("the first phase lasted %v, and its end changed %v", one.Duration(), c.AlsoChanged)
	}
	two := c.Item
	seq := w.ask(textQuestion("a"))
	w.answer(seq, askdata.Answer{Action: askdata.Decline})
	if two.Duration() != time.Second {
		t.Errorf("the phase before a question lasted %v: waiting is no part of it", two.Duration())
	}
	three := w.event(generators.Status("three")).Item
	w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed}))
	if three.Duration() != time.Second {
		t.Errorf("the last phase lasted %v", three.Duration())
	}
	gone := w.event(generators.Status("gone")).Item
	for i := range maxDroppable {
		w.event(generators.Log(generators.Info, i))
	}
	if c := w.event(generators.Status("next")); len(c.AlsoChanged) != 0 {
		t.Errorf("the end of a phase whose row is gone changed %v (%s)", c.AlsoChanged, gone.Text)
	}
}

func TestRepeatedStatuses(t *testing.T) {
	w := newLogWriter()
	first := w.event(generators.Status("again")).Item
	w.event(generators.Progress(1, 3, ""))
	w.event(generators.Status("again"))
	if c := w.event(generators.Status("again")); c.Item != first || c.Added || first.Count != 3 {
		t.Errorf("the third equal status made %+v with count %d", c, first.Count)
	}
	if c := w.event(generators.StatusAt(generators.Warning, "again")); !c.Added {
		t.Error("a status of another level was counted as a repetition")
	}
	if len(w.run.Items) != 3 || w.run.Events != 5 {
		t.Errorf("%d items and %d events", len(w.run.Items), w.run.Events)
	}
}
