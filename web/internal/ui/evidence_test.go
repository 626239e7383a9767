package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/web/internal/table"
)

func askingWith(shown ...*generators.Artifact) engine.OpenAsk {
	q := &askdata.Question{Kind: askdata.KindText, Message: "?", Fields: askdata.Fields{{Name: "k", Type: "string"}}, Evidence: shown}
	return engine.OpenAsk{ID: "a.1", Run: "a", Asked: runlog.Asked{Key: "k", Question: q}}
}

// A form renders all of what the question shows, or its answer says otherwise.
func TestRenderingOf(t *testing.T) {
	long := generators.Table{Columns: []string{"a"}}
	for range table.RowsPerPage + 1 {
		long.Rows = append(long.Rows, []any{1})
	}
	for name, tt := range map[string]struct {
		shown generators.Event
		want  runlog.Rendering
	}{
		"code":       {generators.Code("c", "sql", "SELECT 1"), runlog.RenderedFull},
		"picture":    {generators.Image("p", "image/png", []byte("\x89PNG")), runlog.RenderedFull},
		"table":      {generators.TableOf("t", generators.Table{Columns: []string{"a"}, Rows: [][]any{{1}}}), runlog.RenderedFull},
		"long table": {generators.TableOf("t", long), runlog.RenderedTruncated},
		"value":      {generators.JSON("v", map[string]any{"a": []int{1, 2}}), runlog.RenderedFull},
		"long value": {generators.JSON("v", strings.Repeat("x", 2001)), runlog.RenderedTruncated},
		"big value":  {generators.JSON("v", make([]int, 2000)), runlog.RenderedTruncated},
		"long text":  {generators.Code("c", "sql", strings.Repeat("x\n", 300<<10)), runlog.RenderedTruncated},
		"archive":    {generators.File("f.tar", "application/x-tar", []byte("tar")), runlog.RenderedTruncated},
	} {
		if got := RenderingOf(askingWith(tt.shown.(*generators.Artifact))); got != tt.want {
			t.Errorf("a question that shows a %s is rendered %s, want %s", name, got, tt.want)
		}
	}
}

// The inbox shows what is short beside the question, and links to the rest.
func TestInboxShowsEvidence(t *testing.T) {
	code := generators.Code("001.sql", "sql", "DROP TABLE a;").(*generators.Artifact)
	brief := renderHTML(t, InboxList(InboxPage{Asks: []InboxLine{{OpenAsk: askingWith(code)}}}))
	if !strings.Contains(brief, "<summary>Shows 001.sql</summary>") || !strings.Contains(brief, "DROP") || !strings.Contains(brief, `href="/asks/a.1/evidence/0"`) {
		t.Errorf("the inbox has %s", brief)
	}
	long := renderHTML(t, InboxList(InboxPage{Asks: []InboxLine{{OpenAsk: askingWith(slices.Repeat([]*generators.Artifact{code}, maxBriefArtifacts+1)...)}}}))
	if !strings.Contains(long, `<a href="/asks/a.1">Shows 001.sql, 001.sql, 001.sql and 10 more</a>`) || strings.Contains(long, "DROP") {
		t.Errorf("the inbox has %s", long)
	}
}

// The row of a settled question has what it has shown, folded, and says what of it the
// person who answered didn't get to see.
func TestRowOfSettledQuestionHasEvidence(t *testing.T) {
	for rendered, note := range map[runlog.Rendering]string{
		runlog.RenderedFull: "", runlog.RenderedTruncated: ", not all of it to who answered", runlog.RenderedNothing: ", but not to who answered",
	} {
		w := newLogWriter("{}")
		seq := w.ask(questions()["showing"])
		if open := renderHTML(t, Row(w.run, w.run.Items[1])); strings.Contains(open, "001.sql") {
			t.Errorf("while it is open, the row is %s", open)
		}
		w.add(runlog.NewEntry(runlog.KindAnswered, runlog.Answered{AskSeq: seq, Answer: askdata.Answer{Action: askdata.Decline}, Evidence: rendered}))
		row := renderHTML(t, Row(w.run, w.run.Items[1]))
		want := "<summary>Showed 001.sql, Rows &lt;b&gt;, an untitled artifact and 1 more" + note + "</summary>"
		if !strings.Contains(row, want) || !strings.Contains(row, "DROP") || strings.Contains(row, "<details open") {
			t.Errorf("the row of a question that was rendered %s is %s", rendered, row)
		}
	}
}
