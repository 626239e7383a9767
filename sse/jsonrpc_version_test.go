package sse_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/sse"
)

// A reader gets the version of a request to a model that a person has approved, in the place of
// the one that it was sent before. One that comes later gets that version only.
func TestReadersGetTheVersionApprovedLast(t *testing.T) {
	request := func(text string) *ask.SampleRequest {
		return &ask.SampleRequest{Messages: []ask.SampleMessage{ask.FromUser(ask.TextBlock(text))}, MaxTokens: 9}
	}
	asked := runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &askdata.Question{Kind: askdata.KindSample, Message: "m", Sample: asking.NewSample(request("4711"))}})
	approved := runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: 1, Call: 1, Approved: &runlog.Approval{Model: "m", Request: request("the plan")}})
	asked.Seq, approved.Seq = 1, 2
	var latest *ask.SampleRequest
	reader := func(after uint64) *sse.JSONRPCRenderer {
		return sse.NewJSONRPCRenderer(t.Context(), sse.JSONRPCRun{ID: "a", PhotonName: "tool", Source: source{base: "http://b", approved: func(string) *ask.SampleRequest { return latest }}}, after)
	}
	render := func(r *sse.JSONRPCRenderer, entries ...runlog.Entry) (text string, last uint64) {
		t.Helper()
		messages, err := r.Render(entries)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			text, last = text+string(m.Data)+"\n", max(last, m.ID)
			if m.ID == 2 && strings.Contains(string(m.Data), "notifications/cancelled") {
				t.Error("a reader that reconnects after the cancellation would miss the new version")
			}
		}
		return text, last
	}
	connected := reader(0)
	if got, _ := render(connected, asked); !strings.Contains(got, "4711") {
		t.Fatalf("the question is %s", got)
	}
	latest = request("the plan")
	for name, r := range map[string]*sse.JSONRPCRenderer{"connected": connected, "reconnected": reader(1)} {
		entries := []runlog.Entry{approved}
		if r != connected {
			entries = []runlog.Entry{asked, approved}
		}
		got, last := render(r, entries...)
		cancelled, again, _ := strings.Cut(got, "\n")
		if !strings.Contains(cancelled, `"method":"notifications/cancelled","params":{"requestId":"a.1"`) || !strings.Contains(again, `"id":"a.1","method":"sampling/createMessage"`) || !strings.Contains(again, "the plan") || strings.Contains(got, "4711") || last != 2 {
			t.Errorf("a %s reader gets %s", name, got)
		}
	}
	if got, _ := render(reader(0), asked, approved); strings.Count(got, "the plan") != 1 || strings.Contains(got, "4711") || strings.Contains(got, "cancelled") {
		t.Errorf("a later reader gets %s", got)
	}
	undone := runlog.NewEntry(runlog.KindSampling, runlog.Sampling{AskSeq: 1, Call: 2, Approved: &runlog.Approval{Model: "m"}})
	undone.Seq, latest = 3, nil
	for name, r := range map[string]*sse.JSONRPCRenderer{"connected": connected, "reconnected": reader(2)} {
		entries := []runlog.Entry{undone}
		if r != connected {
			entries = []runlog.Entry{asked, approved, undone}
		}
		got, _ := render(r, entries...)
		if cancelled, again, _ := strings.Cut(got, "\n"); !strings.Contains(cancelled, "notifications/cancelled") || !strings.Contains(again, "4711") {
			t.Errorf("once the request is again as it was asked, a %s reader gets %s", name, got)
		}
	}
	if got, _ := render(reader(1), asked, undone); strings.Contains(got, "cancelled") {
		t.Errorf("a reader that had what was approved gets %s", got)
	}
}
