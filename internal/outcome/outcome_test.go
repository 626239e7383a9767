package outcome_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// ends are runs of every outcome.
func ends() []runlog.Finished {
	const question = "Which account should Ada get?"
	list := []runlog.Finished{
		{Status: runlog.Completed, Result: json.RawMessage(`"done"`)},
		{Status: runlog.Failed, Error: "no such file"},
		{Status: runlog.Interrupted, Error: "Beam was restarted while this was running"},
		{Status: runlog.Stopped, Surface: "browser"},
		{Status: runlog.Stopped, Surface: "http"},
		{Status: runlog.Stopped, Surface: "terminal"},
		{Status: runlog.Stopped, Surface: "mcp task"},
		{Status: runlog.Stopped, Surface: "browser", By: "Bea"},
		{Status: runlog.Stopped, Error: "stopped"},
		{Status: runlog.Stopped, Error: "no client came back to the run"},
		{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: 3, Message: question}, By: "Bea"},
		{Status: runlog.Unanswered, Error: "booking: the question was declined", Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Seq: 3, Message: question}},
		{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: runlog.ReasonDeclined, Message: strings.Repeat("Are you\nsure?\n", 40)}},
		{Status: "a later version's"},
	}
	for _, u := range runlog.UnansweredErrors {
		detail := map[runlog.UnansweredReason]string{
			runlog.ReasonUnreachable: "the MCP client can't be asked this: it did not declare the capability elicitation",
			runlog.ReasonInvalid:     "3 answers from the MCP client were not valid: /color must be one of r, g",
		}[u.Reason]
		list = append(list,
			runlog.Finished{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: u.Reason, Seq: 3, Message: question, Detail: detail}},
			runlog.Finished{Status: runlog.Unanswered, Ask: &runlog.UnansweredAsk{Reason: u.Reason}})
	}
	return list
}

// What people and models read of each outcome is in testdata/outcomes.txt.
func TestTexts(t *testing.T) {
	var b strings.Builder
	for _, f := range ends() {
		o := outcome.Of(&f)
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(string(raw) + "\n  label:  " + o.Label + "\n")
		if text := outcome.TextForPeople(&f); text != "" {
			b.WriteString("  people: " + text + "\n")
		}
		if o.IsError {
			b.WriteString("  model:  " + strings.ReplaceAll(outcome.TextForModel(&f), "\n", "\n          ") + "\n")
		}
		b.WriteString("\n")
	}
	file := filepath.Join("testdata", "outcomes.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v: the texts are\n%s\n(go test ./internal/outcome -update rewrites the file)", err, b.String())
	}
}

// Commands and tasks can tell the outcomes apart.
func TestStatuses(t *testing.T) {
	for _, tt := range []struct {
		status          runlog.FinishStatus
		reason          runlog.UnansweredReason
		exit            int
		task, extension string
	}{
		{runlog.Completed, "", 0, "completed", "completed"},
		{runlog.Failed, "", 1, "failed", "completed"},
		{runlog.Interrupted, "", 1, "failed", "failed"},
		{runlog.Stopped, "", 130, "failed", "completed"},
		{runlog.Unanswered, runlog.ReasonDeclined, 3, "failed", "completed"},
		{runlog.Unanswered, runlog.ReasonDismissed, 3, "failed", "completed"},
		{runlog.Unanswered, runlog.ReasonExpired, 5, "failed", "completed"},
		{runlog.Unanswered, runlog.ReasonUnreachable, 4, "failed", "completed"},
		{runlog.Unanswered, runlog.ReasonInvalid, 4, "failed", "completed"},
	} {
		o := outcome.Find(tt.status, tt.reason)
		if o.ExitStatus != tt.exit || o.TaskStatus != tt.task || o.ExtensionStatus != tt.extension || o.IsError != (tt.status != runlog.Completed) {
			t.Errorf("%s %s: %+v", tt.status, tt.reason, o)
		}
	}
}
