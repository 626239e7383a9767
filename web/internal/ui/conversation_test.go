package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/runlog"
)

// TestALongConversationIsCut checks that a long conversation is cut, with a note.
func TestALongConversationIsCut(t *testing.T) {
	s := &ask.SampleRequest{MaxTokens: 1}
	for i := range 25 {
		s.Messages = append(s.Messages, ask.FromUser(ask.TextBlock(fmt.Sprintf("message %d %s", i, strings.Repeat("é", 20_000)))))
	}
	html := renderHTML(t, conversation(newConversationView(s)))
	if len(html) > 500_000 || !strings.Contains(html, "5 earlier messages are not shown.") || strings.Contains(html, "message 4 ") || !strings.Contains(html, "message 24 ") {
		t.Errorf("it is %d bytes long: %.200s …", len(html), html)
	}
}

func TestWithdrawnQuestionsSayWhy(t *testing.T) {
	for _, tt := range []struct {
		withdrawn runlog.Withdrawn
		want      string
	}{
		{runlog.Withdrawn{Reason: runlog.Unsupported}, "withdrawn: nobody could be asked"},
		{runlog.Withdrawn{Reason: runlog.Unsupported, Error: "The client has no <forms>."}, "withdrawn: nobody could be asked (The client has no &lt;forms&gt;)"},
		{runlog.Withdrawn{Reason: runlog.Invalid, Error: "too long"}, "withdrawn: the answers were invalid (too long)"},
		{runlog.Withdrawn{Reason: runlog.RunEnded}, "withdrawn: the run ended first"},
		{runlog.Withdrawn{Reason: runlog.Expired}, "expired: nobody answered in time"},
	} {
		w := newLogWriter("{}")
		tt.withdrawn.AskSeq = w.ask(questions()["text"])
		w.add(runlog.NewEntry(runlog.KindWithdrawn, tt.withdrawn))
		if html := renderHTML(t, Row(w.run, w.run.Items[1])); !strings.Contains(html, ">"+tt.want+"<") {
			t.Errorf("%+v is shown as %s", tt.withdrawn, html)
		}
	}
}
