package sse_test

import (
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// TestRenderAsked checks the questions that MCP has a request of its own for.
func TestRenderAsked(t *testing.T) {
	sample := &ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock("Hi"))}, MaxTokens: 9}
	for _, tt := range []struct {
		name  string
		entry runlog.Entry
		want  string
	}{
		{"a model", runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &askdata.Question{Kind: askdata.KindSample, Message: "m", Sample: asking.NewSample(sample)}}),
			`{"jsonrpc":"2.0","id":"a.1","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"text":"Hi","type":"text"}}],"maxTokens":9,"_meta":{"beam/kind":"sample","beam/key":"k","beam/run":"a"}}}`},
		{"roots", runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &askdata.Question{Kind: askdata.KindRoots, Message: "m"}}),
			`{"jsonrpc":"2.0","id":"a.1","method":"roots/list","params":{"_meta":{"beam/kind":"roots","beam/key":"k","beam/run":"a"}}}`},
		{"an address, until they are done", runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &askdata.Question{Kind: askdata.KindURL, Message: "m", URL: "https://example.com", UntilDone: true}}),
			`{"jsonrpc":"2.0","id":"a.1","method":"elicitation/create","params":{"mode":"url","message":"m","elicitationId":"a.1","url":"http://b/asks/a.1","_meta":{"beam/kind":"url","beam/key":"k","beam/run":"a"}}}`},
		{"a withdrawal", runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: 7, Reason: runlog.Unsupported, Error: "no forms"}),
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a.7","reason":"withdrawn (unsupported): no forms"}}`},
	} {
		tt.entry.Seq = 1
		messages, err := sse.NewJSONRPCRenderer(t.Context(), sse.JSONRPCRun{ID: "a", PhotonName: "tool", Source: source{base: "http://b"}}, 0).Render([]runlog.Entry{tt.entry})
		if err != nil || len(messages) != 1 {
			t.Fatalf("%s: %d messages, %v", tt.name, len(messages), err)
		}
		if got := string(messages[0].Data); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
