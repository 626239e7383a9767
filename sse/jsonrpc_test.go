package sse_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/sse"
)

var update = flag.Bool("update", false, "write the golden files")

// TestWireTranscript holds what every kind of entry looks like on the wire.
func TestWireTranscript(t *testing.T) {
	entries := transcript(t)
	l := log.NewMemory()
	if _, err := l.Append(t.Context(), "7f3c", 0, entries...); err != nil {
		t.Fatal(err)
	}
	w := newRecorder()
	render := &sse.JSONRPC{Run: "7f3c", Logger: "tool", Base: "http://127.0.0.1:3008"}
	if err := sse.Serve(t.Context(), w, l.Follow(t.Context(), "7f3c", 0), render, sse.Options{}); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/transcript.txt"
	if *update {
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

func transcript(t *testing.T) []log.Entry {
	t.Helper()
	var entries []log.Entry
	event := func(e generators.Event) {
		kind, data, err := generators.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, log.Entry{Kind: log.Kind(kind), Data: data})
	}
	record := func(kind log.Kind, data any) uint64 {
		entries = append(entries, log.New(kind, data))
		return uint64(len(entries))
	}
	record(log.KindStarted, log.Started{Photon: "tool", Args: []byte("{}")})
	record(log.KindClaimed, log.Claimed{Epoch: 1})
	event(generators.Status("working"))
	event(generators.StatusAt(generators.Success, "worked"))
	event(generators.Progress(1, 4, "a quarter"))
	event(generators.Busy("no end in sight"))
	event(generators.LogTo("db", generators.Warning, map[string]int{"rows": 3}))
	event(generators.Chunk("streamed\ntext"))
	event(generators.Toast(generators.Info, "saved"))
	event(generators.Markdown("Report", "# Hi"))
	questions := []*ask.Question{
		{Kind: ask.KindText, Message: "Name?", Fields: ask.Fields{{Name: "name", Type: "string", Required: true, MinLength: 2, Pattern: "^[A-Z]", PatternHint: "must begin with a capital"}}},
		{Kind: ask.KindSecret, Message: "Key?", Fields: ask.Fields{{Name: "key", Type: "string", Format: ask.FormatSecret, Required: true}}},
		{Kind: ask.KindFile, Message: "File?", File: &ask.FileRules{MaxSize: 10, Min: 1, Max: 1}},
		{Kind: ask.KindURL, Message: "Open this", URL: "https://example.com/consent"},
	}
	deadline := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	answer := ask.Answer{Action: ask.Accept, Content: []byte(`{"name":"Ada"}`)}
	seq := record(log.KindAsked, log.Asked{Key: "name", Question: questions[0], Deadline: deadline})
	record(log.KindAnswered, log.Answered{Ask: seq, Answer: answer, By: "browser"})
	seq = record(log.KindAsked, log.Asked{Key: "key", Question: questions[1]})
	record(log.KindAnswered, log.Answered{Ask: seq, Answer: ask.Answer{Action: ask.Accept}, Sealed: []byte("sealed"), By: "browser"})
	seq = record(log.KindAsked, log.Asked{Key: "file", Question: questions[2]})
	record(log.KindAnswered, log.Answered{Ask: seq, Answer: ask.Answer{Action: ask.Decline}, By: "http"})
	record(log.KindStepped, log.Stepped{Key: "step", Value: []byte("1")})
	seq = record(log.KindAsked, log.Asked{Key: "url", Question: questions[3]})
	record(log.KindWithdrawn, log.Withdrawn{Ask: seq, Reason: log.Expired})
	record(log.KindFinished, log.Finished{Status: log.Completed, Result: []byte(`{"ok":true}`)})
	return entries
}

func TestHowEndsAreTold(t *testing.T) {
	tests := []struct {
		name string
		end  log.Finished
		want string
	}{
		{"a text", log.Finished{Status: log.Completed, Result: []byte(`"done & dusted"`)},
			`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"done \u0026 dusted"}],"_meta":{"beam/status":"completed"}}}`},
		{"a list", log.Finished{Status: log.Completed, Result: []byte(`[1]`)},
			`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"[1]"}],"_meta":{"beam/status":"completed"}}}`},
		{"a failure", log.Finished{Status: log.Failed, Error: "no"},
			`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"beam/status":"failed"}}}`},
		{"a stop", log.Finished{Status: log.Stopped, Error: "stopped"},
			`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"stopped"}],"isError":true,"_meta":{"beam/status":"stopped"}}}`},
	}
	for _, tt := range tests {
		render := &sse.JSONRPC{Run: "a"}
		e := log.New(log.KindFinished, tt.end)
		e.Seq = 1
		messages, err := render.Render([]log.Entry{e})
		if err != nil || len(messages) != 1 {
			t.Fatalf("%s: %d messages, %v", tt.name, len(messages), err)
		}
		if got := string(messages[0].Data); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
