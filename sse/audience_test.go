package sse_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// A reader who may not answer a question is told who may, in place of the request, and
// nothing when it is settled, also if the stream is resumed in between.
func TestQuestionForOthers(t *testing.T) {
	question := &askdata.Question{Kind: askdata.KindConfirm, Message: "Go?", NotCaller: true}
	entries := []runlog.Entry{
		runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: "ada"}),
		runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "go", Question: question}),
		runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: 2, Answer: askdata.Answer{Action: askdata.Decline}}),
	}
	for i := range entries {
		entries[i].Seq = uint64(i + 1)
	}
	for after, want := range []string{"Waits for grace to answer: Go?", "Waits for grace to answer: Go?", ""} {
		run := sse.JSONRPCRun{ID: "r", PhotonName: "p", Source: source{}, Excludes: func(*askdata.Question) string { return "grace" }}
		messages, err := sse.NewJSONRPCRenderer(t.Context(), run, uint64(after)).Render(entries)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, m := range messages {
			all.Write(m.Data)
		}
		if got := all.String(); strings.Contains(got, "elicitation/create") || strings.Contains(got, "cancelled") || !strings.Contains(got, want) {
			t.Errorf("after entry %d: %s", after, got)
		}
	}
}
