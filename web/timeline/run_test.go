package timeline

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

var start = time.Date(2026, 3, 4, 19, 0, 0, 0, time.UTC)

// writer makes the entries of a run, one a second.
type writer struct {
	r    *Run
	last uint64
}

func newWriter() *writer {
	w := &writer{r: New("7f3c00000000000000000000000000a1")}
	w.add(log.New(log.KindStarted, log.Started{Photon: "wizard", Title: "Wizard", Surface: "browser", Args: json.RawMessage(`{"a":1}`)}))
	return w
}

func (w *writer) add(e log.Entry) Change {
	w.last++
	e.Seq, e.Time = w.last, start.Add(time.Duration(w.last)*time.Second)
	return w.r.Apply(e)
}

func (w *writer) event(e generators.Event) Change {
	kind, data, err := generators.Encode(e)
	if err != nil {
		panic(err)
	}
	return w.add(log.Entry{Kind: log.Kind(kind), Data: data})
}

func (w *writer) ask(q *ask.Question) uint64 {
	w.add(log.New(log.KindAsked, log.Asked{Key: "k", Question: q}))
	return w.last
}

func (w *writer) answer(seq uint64, a ask.Answer) Change {
	return w.add(log.New(log.KindAnswered, log.Answered{Ask: seq, Answer: a, By: "terminal"}))
}

func text(key string) *ask.Question {
	return &ask.Question{Kind: ask.KindText, Message: "?", Fields: ask.Fields{{Name: key, Type: "string"}}}
}

func TestStates(t *testing.T) {
	w := newWriter()
	check := func(state run.State, open int) {
		t.Helper()
		if w.r.State != state || len(w.r.Open) != open {
			t.Errorf("after entry %d: %s with %d open asks; want %s with %d", w.last, w.r.State, len(w.r.Open), state, open)
		}
	}
	check(run.Running, 0)
	one := w.ask(text("a"))
	two := w.ask(text("b"))
	check(run.Waiting, 2)
	if w.r.Open[0].ID != log.AskID(w.r.ID, one) || w.r.Open[0].Photon != "wizard" || w.r.Open[0].Title != "Wizard" {
		t.Errorf("the first open ask is %+v", w.r.Open[0].Open)
	}
	if c := w.answer(two, ask.Answer{Action: ask.Decline}); c.Head || !c.Asks {
		t.Errorf("settling one of two asks changed %+v", c)
	}
	check(run.Waiting, 1)
	if c := w.add(log.New(log.KindWithdrawn, log.Withdrawn{Ask: one, Reason: log.Expired})); !c.Head {
		t.Error("settling the last ask didn't change the run's state")
	}
	check(run.Running, 0)
	w.event(generators.Progress(1, 2, "half"))
	three := w.ask(text("c"))
	c := w.add(log.New(log.KindFinished, log.Finished{Status: log.Failed, Error: "no", Spent: 7}))
	check(run.Failed, 0)
	if !c.Head || !c.Progress || !c.Asks || len(c.Also) != 1 || c.Also[0].Seq != three {
		t.Errorf("the end changed %+v", c)
	}
	if w.r.Progress != nil || w.r.Error != "no" || w.r.Spent != 7 || w.r.Ended.IsZero() {
		t.Errorf("the run ended as %+v", w.r)
	}
	var states []AskState
	for _, i := range w.r.Items {
		if i.Kind == Asked {
			states = append(states, i.Ask.State)
		}
	}
	if want := []AskState{Expired, Declined, Withdrawn}; !slices.Equal(states, want) {
		t.Errorf("the asks are %v, want %v", states, want)
	}
}

func TestAnswersInWords(t *testing.T) {
	form := &ask.Question{Kind: ask.KindForm, Fields: ask.Fields{
		{Name: "name", Title: "Name", Type: "string"},
		{Name: "age", Type: "integer"},
		{Name: "role", Type: "string", Choices: []ask.Choice{{Value: "dev", Title: "Developer"}}},
		{Name: "topics", Type: "array", Choices: []ask.Choice{{Value: "a", Title: "Auth"}, {Value: "b"}}},
		{Name: "news", Type: "boolean"},
		{Name: "blank", Type: "string"},
		{Name: "pw", Type: "string", Format: ask.FormatSecret},
	}}
	confirm := &ask.Question{Kind: ask.KindConfirm, Yes: "Delete", Fields: ask.Fields{{Name: "go", Type: "boolean"}}}
	secret := &ask.Question{Kind: ask.KindSecret, Fields: ask.Fields{{Name: "key", Type: "string", Format: ask.FormatSecret}}}
	tests := []struct {
		q    *ask.Question
		a    ask.Answer
		want string
	}{
		{form, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"Ada","age":36,"role":"dev","topics":["a","b"],"news":false,"pw":"hunter2"}`)},
			"Name=Ada age=36 role=Developer topics=Auth, b news=No"},
		{confirm, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"go":true}`)}, "go=Delete"},
		{confirm, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"go":false}`)}, "go=No"},
		{secret, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"key":"hunter2"}`)}, ""},
		{&ask.Question{Kind: ask.KindFile}, ask.Answer{Action: ask.Accept, Files: []ask.FileRef{{Name: "a.csv", Size: 1234}}}, "a.csv=1.2 kB"},
		{&ask.Question{Kind: ask.KindSample}, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"model":"m-1","role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"audio","data":"eA==","mimeType":"audio/wav"},{"type":"tool_use","id":"1","name":"look","input":{}},{"type":"x"}]}`)},
			"m-1=Hi\n[a picture, image/png, 1 byte]\n[a sound, audio/wav, 1 byte]\n[uses the tool look: {}]\n[a block of the type x]"},
		{&ask.Question{Kind: ask.KindRoots}, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}`)}, "Folders=file:///a\nfile:///b"},
		{&ask.Question{Kind: ask.KindRoots}, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"roots":[]}`)}, "Folders=none"},
		{form, ask.Answer{Action: ask.Decline}, ""},
		{form, ask.Answer{Action: ask.Accept, Content: json.RawMessage(`{"name":"` + strings.Repeat("x", 5000) + `"}`)}, "Name=" + strings.Repeat("x", maxValue) + " …"},
	}
	for _, tt := range tests {
		w := newWriter()
		w.answer(w.ask(tt.q), tt.a)
		var got []string
		for _, v := range w.r.Items[1].Ask.Values {
			got = append(got, v.Label+"="+v.Text)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.q.Kind, s, tt.want)
		}
	}
}

func TestPhases(t *testing.T) {
	w := newWriter()
	one := w.event(generators.Status("one")).Item
	w.event(generators.Status("one"))
	w.event(generators.Log(generators.Info, "a line ends no phase"))
	if one.Lasted() != 0 {
		t.Errorf("a phase that goes on lasted %v", one.Lasted())
	}
	c := w.event(generators.Status("two"))
	if one.Lasted() != 3*time.Second || len(c.Also) != 1 || c.Also[0] != one {
		t.Errorf("the first phase lasted %v, and its end changed %v", one.Lasted(), c.Also)
	}
	two := c.Item
	seq := w.ask(text("a"))
	w.answer(seq, ask.Answer{Action: ask.Decline})
	if two.Lasted() != time.Second {
		t.Errorf("the phase before a question lasted %v: waiting is no part of it", two.Lasted())
	}
	three := w.event(generators.Status("three")).Item
	w.add(log.New(log.KindFinished, log.Finished{Status: log.Completed}))
	if three.Lasted() != time.Second {
		t.Errorf("the last phase lasted %v", three.Lasted())
	}
	gone := w.event(generators.Status("gone")).Item
	for i := range maxPlain {
		w.event(generators.Log(generators.Info, i))
	}
	if c := w.event(generators.Status("next")); len(c.Also) != 0 {
		t.Errorf("the end of a phase whose row is gone changed %v (%s)", c.Also, gone.Text)
	}
}

func TestRepeatedStatuses(t *testing.T) {
	w := newWriter()
	first := w.event(generators.Status("again")).Item
	w.event(generators.Progress(1, 3, ""))
	w.event(generators.Status("again"))
	if c := w.event(generators.Status("again")); c.Item != first || c.Added || first.Count != 3 {
		t.Errorf("the third equal status made %+v with count %d", c, first.Count)
	}
	if c := w.event(generators.StatusAt(generators.Warning, "again")); !c.Added {
		t.Error("a status of another level was taken for the same")
	}
	if len(w.r.Items) != 3 || w.r.Events != 5 {
		t.Errorf("%d items and %d events", len(w.r.Items), w.r.Events)
	}
}

func TestAHundredThousandStatuses(t *testing.T) {
	w := newWriter()
	kept := w.ask(text("a"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	for i := range 100_000 {
		w.event(generators.Statusf("event %d", i))
		if i%10_000 == 0 {
			w.event(generators.Markdown("m", "text"))
		}
	}
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := len(w.r.Items); n != 1+1+10+maxPlain {
		t.Errorf("%d items are kept", n)
	}
	if w.r.Hidden != 100_000-maxPlain || w.r.Events != 100_010 {
		t.Errorf("%d hidden of %d events", w.r.Hidden, w.r.Events)
	}
	if w.r.Items[1].Seq != kept || w.r.Items[len(w.r.Items)-1].Text != "event 99999" {
		t.Error("what is kept is not the asks and the latest")
	}
	if !slices.IsSortedFunc(w.r.Items, func(a, b *Item) int { return int(a.Seq) - int(b.Seq) }) {
		t.Error("the items are out of order")
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	runtime.KeepAlive(w)
}

func TestArtifactsAreBounded(t *testing.T) {
	w := newWriter()
	for i := range maxArtifacts + 50 {
		w.event(generators.File(fmt.Sprint(i), "text/plain", []byte(strings.Repeat("x", 100<<10))))
	}
	bodies, kept := 0, 0
	for _, i := range w.r.Items {
		if i.Kind == Artifact {
			kept++
			bodies += len(i.Artifact.Body)
			if i.Artifact.Size != 100<<10 {
				t.Fatalf("artifact %s has the size %d", i.Artifact.Title, i.Artifact.Size)
			}
		}
	}
	if kept != maxArtifacts || w.r.Hidden != 50 || bodies > maxBodies || bodies != w.r.bodies {
		t.Errorf("%d artifacts are kept, %d hidden, %d bytes of bodies (counted: %d)", kept, w.r.Hidden, bodies, w.r.bodies)
	}
}

func TestChunksGrowTogether(t *testing.T) {
	w := newWriter()
	first := w.event(generators.Chunk("a"))
	c := w.event(generators.Chunk("b"))
	if c.Item != first.Item || c.Appended != "b" || c.Item.ChunkText() != "ab" {
		t.Errorf("the second chunk made %+v: %q", c, c.Item.ChunkText())
	}
	w.event(generators.Status("in between"))
	if c := w.event(generators.Chunk("c")); !c.Added || c.Item.ChunkText() != "c" {
		t.Errorf("a chunk after something else continued the one before: %+v", c)
	}
}

func TestChunksAreBounded(t *testing.T) {
	w := newWriter()
	all := 0
	for i := range 3000 {
		piece := strings.Repeat("é→", 50)
		all += len(piece)
		w.event(generators.Chunk(piece))
		if i%1000 == 999 {
			w.event(generators.Status("next"))
		}
	}
	kept, cut := 0, 0
	for _, i := range w.r.Items {
		if i.Kind == Chunk {
			kept += i.ChunkLen()
			cut += i.Cut
			if !utf8.ValidString(i.ChunkText()) {
				t.Error("a chunk was cut inside a character")
			}
		}
	}
	if kept > maxChunks || kept < keepChunks-8 || kept+cut != all || kept != w.r.chunked {
		t.Errorf("%d bytes kept (counted: %d), %d cut, of %d", kept, w.r.chunked, cut, all)
	}
}

func TestWhatCannotBeReadChangesNothing(t *testing.T) {
	w := newWriter()
	for _, e := range []log.Entry{
		{Kind: "status", Data: json.RawMessage(`{`)},
		{Kind: "status", Data: json.RawMessage(`[]`)},
		{Kind: "hologram", Data: json.RawMessage(`{}`)},
		{Kind: log.KindAnswered, Data: json.RawMessage(`{"ask":99,"answer":{"action":"accept"}}`)},
		{Kind: log.KindAsked, Data: json.RawMessage(`{"key":"a"}`)},
	} {
		if c := w.add(e); c.Item != nil || c.Head || c.Asks {
			t.Errorf("%s %s changed %+v", e.Kind, e.Data, c)
		}
	}
	if w.r.Last != w.last {
		t.Errorf("the last entry is %d, want %d", w.r.Last, w.last)
	}
	again := log.Entry{Seq: 1, Kind: "status", Data: json.RawMessage(`{"text":"old"}`)}
	if c := w.r.Apply(again); c.Item != nil || len(w.r.Items) != 1 {
		t.Error("an entry that was applied before was applied again")
	}
}

func TestLargeData(t *testing.T) {
	w := newWriter()
	w.add(log.Entry{Kind: "artifact", Blob: "sha256-x"})
	w.add(log.Entry{Kind: log.KindFinished, Blob: "sha256-y"})
	if w.r.State != run.Completed || !w.r.Items[1].Large || !w.r.Items[2].Large {
		t.Errorf("a run with large data is %s with %+v", w.r.State, w.r.Items)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 9960: "10 kB", 999_499: "999 kB", 999_600: "1.0 MB", 104857600: "105 MB", 5e15: "5.0 PB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add("status", []byte(`{"level":"info","text":"x"}`))
	f.Add("asked", []byte(`{"key":"a","question":{"kind":"form","fields":[{"name":"a"}]}}`))
	f.Add("answered", []byte(`{"ask":2,"answer":{"action":"accept","content":{"a":1}}}`))
	f.Add("artifact", []byte(`{"title":"t","mediaType":"text/plain","body":"eA=="}`))
	f.Add("finished", []byte(`{"status":"completed","result":{}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		w := newWriter()
		w.ask(text("a"))
		w.add(log.Entry{Kind: log.Kind(kind), Data: data})
		w.add(log.Entry{Kind: log.Kind(kind), Data: data})
		w.add(log.New(log.KindFinished, log.Finished{Status: log.Completed}))
		if len(w.r.Open) != 0 {
			t.Error("asks are open after the end")
		}
	})
}

func BenchmarkFold100k(b *testing.B) {
	entries := make([]log.Entry, 100_000)
	for i := range entries {
		e := generators.Statusf("event %d", i)
		if i%2 == 1 {
			e = generators.Progress(float64(i), float64(len(entries)), "")
		}
		kind, data, _ := generators.Encode(e)
		entries[i] = log.Entry{Seq: uint64(i + 1), Time: start, Kind: log.Kind(kind), Data: data}
	}
	b.ReportAllocs()
	for b.Loop() {
		r := New("a")
		for _, e := range entries {
			r.Apply(e)
		}
	}
}
