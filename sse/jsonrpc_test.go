package sse_test

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// TestWireTranscript compares the messages for every kind of entry with a golden
// file.
func TestWireTranscript(t *testing.T) {
	entries := transcriptEntries(t)
	l := runlog.NewMemory()
	if _, err := l.Append(t.Context(), "7f3c", 0, entries...); err != nil {
		t.Fatal(err)
	}
	w := newRecorder()
	render := sse.NewJSONRPCRenderer(t.Context(), transcriptRun(entries), 0)
	if err := sse.Serve(t.Context(), w, l.Follow(t.Context(), "7f3c", 0), render, sse.Options{}); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/transcript.txt"
	if *updateGolden {
		if err := os.WriteFile(golden, []byte(w.text()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.text(); !bytes.Equal([]byte(got), want) {
		t.Errorf("the stream is\n%s\nwant\n%s", got, want)
	}
}

// transcriptRun is the run of the transcript: its artifacts are in its entries.
func transcriptRun(entries []runlog.Entry) sse.JSONRPCRun {
	return sse.JSONRPCRun{ID: "7f3c", PhotonName: "tool", Source: source{base: "http://127.0.0.1:3008", entries: entries}}
}

// TestResumedStreamIsTheSame checks that a stream that begins in the middle sends
// what one from the beginning sends from there.
func TestResumedStreamIsTheSame(t *testing.T) {
	entries := transcriptEntries(t)
	for i := range entries {
		entries[i].Seq = uint64(i + 1)
	}
	whole, err := sse.NewJSONRPCRenderer(t.Context(), transcriptRun(entries), 0).Render(entries)
	if err != nil {
		t.Fatal(err)
	}
	for after := range uint64(len(entries)) {
		rest, err := sse.NewJSONRPCRenderer(t.Context(), transcriptRun(entries), after).Render(entries)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(whole), func(m sse.Message) bool { return m.ID <= after })
		if !reflect.DeepEqual(rest, want) {
			t.Errorf("after %d the stream is %+v, want %+v", after, rest, want)
		}
	}
}

func transcriptEntries(t *testing.T) []runlog.Entry {
	t.Helper()
	var entries []runlog.Entry
	event := func(e generators.Event) {
		kind, data, err := driver.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, runlog.Entry{Kind: runlog.Kind(kind), Data: data})
	}
	record := func(kind runlog.Kind, data any) uint64 {
		entries = append(entries, runlog.NewEntry(kind, data))
		return uint64(len(entries))
	}
	record(runlog.KindStarted, runlog.Started{Photon: "tool", Args: []byte("{}")})
	record(runlog.KindClaimed, runlog.Claimed{Epoch: 1})
	event(generators.Status("working"))
	event(generators.StatusAt(generators.Success, "worked"))
	event(generators.Progress(0, 4, "begins"))
	event(generators.Progress(1, 4, "a quarter"))
	event(generators.Busy("no end in sight"))
	entries = append(entries, runlog.Entry{Kind: "sparkle", Data: []byte(`{"of":"a newer Beam"}`)})
	event(generators.LogTo("db", generators.Warning, map[string]int{"rows": 3}))
	event(generators.Chunk("streamed\ntext"))
	event(generators.Toast(generators.Info, "saved"))
	event(generators.Markdown("Report", "# Hi"))
	questions := []*askdata.Question{
		{Kind: askdata.KindText, Message: "Name?", Fields: askdata.Fields{{Name: "name", Type: "string", Required: true, MinLength: 2, Pattern: "^[A-Z]", PatternHint: "must begin with a capital"}}},
		{Kind: askdata.KindSecret, Message: "Key?", Fields: askdata.Fields{{Name: "key", Type: "string", Format: askdata.FormatSecret, Required: true}}},
		{Kind: askdata.KindFile, Message: "File?", File: &askdata.FileRules{MaxSize: 10, Min: 1, Max: 1}},
		{Kind: askdata.KindURL, Message: "Open this", URL: "https://example.com/consent"},
	}
	deadline := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	answer := askdata.Answer{Action: askdata.Accept, Content: []byte(`{"name":"Ada"}`)}
	seq := record(runlog.KindAsked, runlog.Asked{Key: "name", Question: questions[0], Deadline: deadline})
	record(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: answer, Surface: "browser"})
	seq = record(runlog.KindAsked, runlog.Asked{Key: "key", Question: questions[1]})
	record(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: askdata.Answer{Action: askdata.Accept}, Sealed: []byte("sealed"), Surface: "browser"})
	seq = record(runlog.KindAsked, runlog.Asked{Key: "file", Question: questions[2]})
	record(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: askdata.Answer{Action: askdata.Decline}, Surface: "http"})
	record(runlog.KindStepped, runlog.Stepped{Key: "step", Value: []byte("1")})
	seq = record(runlog.KindAsked, runlog.Asked{Key: "url", Question: questions[3]})
	record(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: seq, Reason: runlog.Expired})
	record(runlog.KindFinished, runlog.Finished{Status: runlog.Completed, Result: []byte(`{"ok":true}`)})
	return entries
}

func TestRenderFinished(t *testing.T) {
	tests := []struct {
		name string
		end  runlog.Finished
		want string
	}{
		{"a text", runlog.Finished{Status: runlog.Completed, Result: []byte(`"done & dusted"`)},
			`{"jsonrpc":"2.0","id":"a","result":{"_meta":{"beam/status":"completed"},"content":[{"type":"text","text":"done & dusted"}]}}`},
		{"a list", runlog.Finished{Status: runlog.Completed, Result: []byte(`[1]`)},
			`{"jsonrpc":"2.0","id":"a","result":{"_meta":{"beam/status":"completed"},"content":[{"type":"text","text":"[1]"}]}}`},
		{"a failure", runlog.Finished{Status: runlog.Failed, Error: "no"},
			`{"jsonrpc":"2.0","id":"a","result":{"_meta":{"beam/status":"failed"},"content":[{"type":"text","text":"no"}],"isError":true}}`},
		{"a decline", runlog.Finished{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: 3, Message: "Sure?"}},
			`{"jsonrpc":"2.0","id":"a","result":{"_meta":{"beam/reason":"declined","beam/status":"unanswered"},"content":[{"type":"text","text":"The user declined \"Sure?\". Don't ask again unless the user wants to."}],"isError":true}}`},
		{"a stop", runlog.Finished{Status: runlog.Stopped, Error: "stopped"},
			`{"jsonrpc":"2.0","id":"a","result":{"_meta":{"beam/status":"stopped"},"content":[{"type":"text","text":"Somebody stopped the run. Don't call the tool again unless the user wants to."}],"isError":true}}`},
	}
	for _, tt := range tests {
		render := sse.NewJSONRPCRenderer(t.Context(), sse.JSONRPCRun{ID: "a", PhotonName: "tool", Source: source{}}, 0)
		e := runlog.NewEntry(runlog.KindFinished, tt.end)
		e.Seq = 1
		messages, err := render.Render([]runlog.Entry{e})
		if err != nil || len(messages) != 1 {
			t.Fatalf("%s: %d messages, %v", tt.name, len(messages), err)
		}
		if got := string(messages[0].Data); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
