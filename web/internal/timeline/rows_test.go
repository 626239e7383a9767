package timeline

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

func TestAHundredThousandStatuses(t *testing.T) {
	w := newLogWriter()
	kept := w.ask(textQuestion("a"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 100_000 {
		w.event(generators.Statusf("event %d", i))
		if i%10_000 == 0 {
			w.event(generators.Markdown("m", "text"))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := len(w.run.Items); n != 1+1+10+maxDroppable {
		t.Errorf("%d items are kept", n)
	}
	if w.run.DroppedItems != 100_000-maxDroppable || w.run.Events != 100_010 {
		t.Errorf("%d hidden of %d events", w.run.DroppedItems, w.run.Events)
	}
	if w.run.Items[1].Seq != kept || w.run.Items[len(w.run.Items)-1].Text != "event 99999" {
		t.Error("what is kept is not the asks and the latest")
	}
	if !slices.IsSortedFunc(w.run.Items, func(a, b *Item) int { return int(a.Seq) - int(b.Seq) }) {
		t.Error("the items are out of order")
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	runtime.KeepAlive(w)
}

func TestArtifactsAreBounded(t *testing.T) {
	w := newLogWriter()
	for i := range maxArtifacts + 50 {
		w.event(generators.File(fmt.Sprint(i), "text/plain", []byte(strings.Repeat("x", 100<<10))))
	}
	bodies, kept := 0, 0
	for _, i := range w.run.Items {
		if i.Kind == Artifact {
			kept++
			bodies += len(i.Artifact.Body)
			if i.Artifact.Size != 100<<10 {
				t.Fatalf("artifact %s has the size %d", i.Artifact.Title, i.Artifact.Size)
			}
		}
	}
	if kept != maxArtifacts || w.run.DroppedItems != 50 || bodies > maxBodyBytes || bodies != w.run.bodyBytes {
		t.Errorf("%d artifacts are kept, %d hidden, %d bytes of bodies (counted: %d)", kept, w.run.DroppedItems, bodies, w.run.bodyBytes)
	}
}

func TestChunksAreJoined(t *testing.T) {
	w := newLogWriter()
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

// What a page marks of a chunk depends on what stands beside it, so that the row is shown again.
func TestChunksWithInvisibleTextAreShownAgain(t *testing.T) {
	for _, tt := range []struct{ before, text, want string }{
		{"delete ", "a\u202eb", ""}, {"delete\u202e", "txt.exe", ""}, {"👩\u200d", "💻", ""}, {"👩", "\u200d💻", "\u200d💻"}, {"می", "\u200cخ", "\u200cخ"}, {"a", "\n☕", "\n☕"},
	} {
		w := newLogWriter()
		w.event(generators.Chunk(tt.before))
		if c := w.event(generators.Chunk(tt.text)); c.Appended != tt.want || c.Item.ChunkText() != tt.before+tt.text {
			t.Errorf("%+q after %+q appends %+q; there is %+q", tt.text, tt.before, c.Appended, c.Item.ChunkText())
		}
	}
}

func TestChunksAreBounded(t *testing.T) {
	w := newLogWriter()
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
	for _, i := range w.run.Items {
		if i.Kind == Chunk {
			kept += i.ChunkLen()
			cut += i.CutBytes
			if !utf8.ValidString(i.ChunkText()) {
				t.Error("a chunk was cut inside a character")
			}
		}
	}
	if kept > maxChunkBytes || kept < chunkBytesAfterTrim-8 || kept+cut != all || kept != w.run.chunkBytes {
		t.Errorf("%d bytes kept (counted: %d), %d cut, of %d", kept, w.run.chunkBytes, cut, all)
	}
}

func TestUndecodableEntriesChangeNothing(t *testing.T) {
	w := newLogWriter()
	for _, e := range []runlog.Entry{
		{Kind: "status", Data: json.RawMessage(`{`)},
		{Kind: "status", Data: json.RawMessage(`[]`)},
		{Kind: runlog.KindAnswered, Data: json.RawMessage(`{"ask":99,"answer":{"action":"accept"}}`)},
		{Kind: runlog.KindAsked, Data: json.RawMessage(`{"key":"a"}`)},
	} {
		if c := w.add(e); c.Item != nil || c.StateChanged || c.AsksChanged {
			t.Errorf("%s %s changed %+v", e.Kind, e.Data, c)
		}
	}
	if w.run.LastSeq != w.last {
		t.Errorf("the last entry is %d, want %d", w.run.LastSeq, w.last)
	}
	again := runlog.Entry{Seq: 1, Kind: "status", Data: json.RawMessage(`{"text":"old"}`)}
	if c := w.run.Apply(again); c.Item != nil || len(w.run.Items) != 1 {
		t.Error("an entry was applied twice")
	}
}

func TestLargeData(t *testing.T) {
	w := newLogWriter()
	w.add(runlog.Entry{Kind: "artifact", Blob: "sha256-x"})
	w.add(runlog.Entry{Kind: runlog.KindFinished, Blob: "sha256-y"})
	if w.run.State != engine.Completed || !w.run.Items[1].Large || !w.run.Items[2].Large {
		t.Errorf("a run with large data is %s with %+v", w.run.State, w.run.Items)
	}
}

func TestFileSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 9960: "10 kB", 999_499: "999 kB", 999_600: "1.0 MB", 104857600: "105 MB", 5e15: "5.0 PB"} {
		if got := fileValues(nil, askdata.Answer{Files: []askdata.FileRef{{Size: n}}})[0].Text; got != want {
			t.Errorf("a file of %d bytes has the size %q, want %q", n, got, want)
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
		w := newLogWriter()
		w.ask(textQuestion("a"))
		w.add(runlog.Entry{Kind: runlog.Kind(kind), Data: data})
		w.add(runlog.Entry{Kind: runlog.Kind(kind), Data: data})
		w.add(runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed}))
		if len(w.run.Open) != 0 {
			t.Error("asks are open after the end")
		}
	})
}

func BenchmarkFold100k(b *testing.B) {
	entries := make([]runlog.Entry, 100_000)
	for i := range entries {
		e := generators.Statusf("event %d", i)
		if i%2 == 1 {
			e = generators.Progress(float64(i), float64(len(entries)), "")
		}
		kind, data, _ := driver.Encode(e)
		entries[i] = runlog.Entry{Seq: uint64(i + 1), Time: startTime, Kind: runlog.Kind(kind), Data: data}
	}
	b.ReportAllocs()
	for b.Loop() {
		r := New("a")
		for _, e := range entries {
			r.Apply(e)
		}
	}
}
