package mcp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// newMigrator returns a photon that confirms SQL.
func newMigrator(sql string) *generators.Photon {
	return generators.New("migrate", func(_ context.Context, _ struct{}, yield generators.Yield) (bool, error) {
		return ask.Confirm(yield, "go", "Apply 1 migration?", ask.Verbs("Apply", "Keep"), ask.Destructive(), ask.Showing(generators.Code("001.sql", "sql", sql)))
	}, nil)
}

// recordedAnswer returns the first answer in the log of a caller's latest run.
func (r *testServer) recordedAnswer(t *testing.T) runlog.Answered {
	t.Helper()
	runs := must(r.engine.Runs(operator, 1, nil))
	if len(runs) != 1 {
		t.Fatal("there is no run")
	}
	batches, err := r.engine.Follow(t.Context(), operator, runs[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range batches {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			if e.Kind == runlog.KindAnswered {
				a, err := runlog.Decode[runlog.Answered](e)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
		}
	}
	t.Fatal("nobody has answered")
	panic("unreachable")
}

// A client is asked with the verbs and what the tool shows, before the deed, and its
// answer is recorded with what it has rendered.
func TestClientSeesWhatItConfirms(t *testing.T) {
	s := newTestServer(t, newMigrator("DROP TABLE a;"))
	w := s.connectStdio(t)
	w.callModern(1, "migrate", `{"elicitation":{}}`)
	first := w.nextLine()
	const message = `"message":"Apply 1 migration?\n\nAnswer “Apply” or “Keep”. This can’t be undone.\n\nThis question is lost if Beam restarts.\n\nShown by the tool migrate:\n` + "```" + `\n001.sql\nDROP TABLE a;\n` + "```" + `"`
	const schema = `"oneOf":[{"title":"Apply","const":"yes"},{"title":"Keep","const":"no"}]`
	if !strings.Contains(first, message) || !strings.Contains(first, schema) {
		t.Errorf("the client is asked %s", first)
	}
	w.retryWithState(2, "migrate", first, `{"go":{"action":"accept","content":{"go":"maybe"}}}`)
	again := w.nextLine()
	if problem := strings.Index(again, "must be yes or no"); problem < 0 || problem > strings.Index(again, "Shown by the tool") {
		t.Errorf("after an invalid answer: %s", again)
	}
	w.retryWithState(3, "migrate", again, `{"go":{"action":"accept","content":{"go":"yes"}}}`)
	w.expectLine(`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete",` + serverMeta + `,"content":[{"type":"text","text":"true"}],"structuredContent":true}}`)
	if a := s.recordedAnswer(t); a.Evidence != runlog.RenderedFull || a.Shown == "" || string(a.Answer.Content) != `{"go":true}` {
		t.Errorf("the answer's record is %+v", a)
	}
}

// A client that can't ask the question is told that the page shows more.
func TestHandoffNamesWhatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLinkingServer(t, newMigrator("DROP TABLE a;")).connectStdio(t)
		w.initialize("2025-11-25", `{}`)
		w.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"migrate"}}`)
		got := w.awaitResponse(1)
		if !strings.Contains(got, `Question: Apply 1 migration?\nThe page also shows what it is about: 001.sql\nAnswer at: http://`) || strings.Contains(got, "DROP TABLE") {
			t.Errorf("the result is %s", got)
		}
	})
}

// What can't be undone and doesn't fit is confirmed on Beam's page: whatever else the
// client sends is no answer.
func TestClientIsSentToThePageForLargeEvidence(t *testing.T) {
	w := newTestServer(t, newMigrator(strings.Repeat("DROP TABLE a;\n", 1000))).connectStdio(t)
	w.callModern(1, "migrate", `{"elicitation":{}}`)
	if got := w.nextLine(); strings.Contains(got, "input_required") {
		t.Errorf("a client without URL mode is asked %s", got)
	}
}
