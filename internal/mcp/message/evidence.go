package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/histogram"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// maxEvidence is how much of what a question shows its message has, in bytes.
const maxEvidence = 4 << 10

// NeedsPage reports whether a client can only be asked to open Beam's page for the
// question: it is one for the page, or it confirms what can't be undone and shows
// more than its message can.
func NeedsPage(q *askdata.Question) bool {
	if q.OnPage() || q.Kind != askdata.KindConfirm || !q.Destructive || len(q.Evidence) == 0 {
		return q.OnPage()
	}
	_, whole := evidenceText(q.Evidence)
	return !whole
}

// RenderingOf says how much of a question's evidence a client gets in the question's
// message; empty if the question shows nothing.
func RenderingOf(q *askdata.Question) runlog.Rendering {
	if len(q.Evidence) == 0 {
		return ""
	}
	if NeedsPage(q) || q.Kind == askdata.KindURL || q.Kind == askdata.KindSample || q.Kind == askdata.KindRoots {
		return runlog.RenderedNothing
	}
	if _, whole := evidenceText(q.Evidence); whole {
		return runlog.RenderedFull
	}
	return runlog.RenderedTruncated
}

// questionAndNotes returns a question and what Beam says about it: the verbs of a
// confirmation, whether it can be undone, and whether a restart loses the question.
func (t *Translator) questionAndNotes(a *runlog.Asked) string {
	text := t.questionAndVerbs(a.Question)
	if note := a.LostNote(); note != "" {
		text += "\n\n" + note
	}
	return text
}

func (t *Translator) questionAndVerbs(q *askdata.Question) string {
	text := SaidBy(q, t.Photon.Name())
	if !form.IsConfirmation(q) || !q.Destructive && q.Yes == "" && q.No == "" {
		return text
	}
	yes, no := form.ConfirmLabels(q)
	text += fmt.Sprintf("\n\nAnswer “%s” or “%s”.", cleantext.Line(yes), cleantext.Line(no))
	if q.Destructive {
		text += " This can’t be undone."
	}
	return text
}

// shownByTool returns what a question shows, for the end of its message; empty if it
// shows nothing. The tool's text is in a fence, so that a client that renders Markdown
// shows it as it is, and nobody takes it for Beam's.
func (t *Translator) shownByTool(q *askdata.Question) string {
	if len(q.Evidence) == 0 {
		return ""
	}
	shown, _ := evidenceText(q.Evidence)
	shown, more := cutLines(shown, maxEvidence)
	fence := fenceFor(shown)
	text := fmt.Sprintf("\n\nShown by the tool %s:\n%s\n%s\n%s", t.Photon.Name(), fence, shown, fence)
	if more > 0 {
		text += "\n… " + humanize.CountOf(more, "more line", "more lines") + " in Beam’s inbox"
	}
	return text
}

// maxListedTitles is how many titles of artifacts EvidenceTitles has.
const maxListedTitles = 5

// EvidenceTitles names what a question shows, for a model that can't ask it; empty if it
// shows nothing.
func EvidenceTitles(q *askdata.Question) string {
	titles := make([]string, len(q.Evidence))
	for i, a := range q.Evidence {
		titles[i] = humanize.Truncate(cmp.Or(cleantext.Line(a.Title), a.MediaType), 60)
	}
	return humanize.List(titles, maxListedTitles)
}

// evidenceText returns artifacts as text, and whether maxEvidence bytes hold all of
// them.
func evidenceText(evidence []*generators.Artifact) (text string, whole bool) {
	parts, whole := make([]string, len(evidence)), true
	for i, a := range evidence {
		body, ok := artifactText(a)
		whole = whole && ok
		parts[i] = strings.Trim(cleantext.Text(strings.TrimSpace(a.Title)+"\n"+body), "\n")
	}
	text = strings.Join(parts, "\n\n")
	return text, whole && len(text) <= maxEvidence
}

// artifactText returns an artifact as compact text. It reports false if it can't be
// shown as text.
func artifactText(a *generators.Artifact) (text string, ok bool) {
	switch {
	case a.MediaType == generators.TableType:
		var t generators.Table
		if decodeNumbers(a.Body, &t) == nil {
			return tableText(t), true
		}
	case a.MediaType == generators.ChartType:
		var c generators.Chart
		if json.Unmarshal(a.Body, &c) == nil {
			return tableText(chartTable(histogram.Count(c))), true
		}
	case a.MediaType == generators.JSONType && !isDeep(a.Body):
		var b bytes.Buffer
		if json.Indent(&b, a.Body, "", "  ") == nil {
			return b.String(), true
		}
	}
	if IsText(a.MediaType) {
		return string(a.Body), utf8.Valid(a.Body)
	}
	return fmt.Sprintf("(%s, %s, shown in Beam’s inbox)", a.MediaType, humanize.Bytes(a.Size)), false
}

// maxIndentedDepth is how deep JSON may be nested to be indented: each line has its depth
// in indentation, so that little JSON can be gigabytes of text.
const maxIndentedDepth = 16

// isDeep reports whether JSON is nested too deep to be indented. Brackets in its strings
// count, too.
func isDeep(raw []byte) bool {
	depth := 0
	for _, c := range raw {
		switch c {
		case '{', '[':
			if depth++; depth > maxIndentedDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

func decodeNumbers(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// tableText returns a table with a line for each row.
func tableText(t generators.Table) string {
	var b strings.Builder
	b.WriteString(strings.Join(oneLine(t.Columns), " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = fmt.Sprint(v)
			}
		}
		b.WriteString("\n" + strings.Join(oneLine(cells), " | "))
	}
	return b.String()
}

// chartTable returns a chart's values, with a row for each label.
func chartTable(c generators.Chart) generators.Table {
	t := generators.Table{Columns: []string{c.XTitle}}
	for _, s := range c.Series {
		t.Columns = append(t.Columns, s.Name)
	}
	for i, label := range c.Labels {
		row := []any{label}
		for _, s := range c.Series {
			if i < len(s.Values) {
				row = append(row, humanize.Number(s.Values[i]))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// oneLine returns texts without line breaks, which could pass for further rows.
func oneLine(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = strings.Join(strings.Fields(s), " ")
	}
	return out
}

// cutLines returns the first lines of a text, as many as fit in a number of bytes, and
// how many lines are missing. If not even the first line fits, it returns its beginning.
func cutLines(text string, limit int) (shown string, missing int) {
	if len(text) <= limit {
		return text, 0
	}
	shown = text[:limit]
	if end := strings.LastIndexByte(text[:limit+1], '\n'); end >= 0 {
		shown = text[:end]
		return shown, strings.Count(text[end+1:], "\n") + 1
	}
	for !utf8.RuneStart(text[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	return shown, strings.Count(text, "\n") + 1
}

// fenceFor returns a code fence that text can't close.
func fenceFor(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// maxToolOutput is how much of a tool's output ToolOutput has, in bytes.
const maxToolOutput = 4 << 10

// ToolOutput tells a model of a run's end: its state, and what its tool has returned,
// bounded, and marked as a tool's.
func ToolOutput(run, tool, state, output string) string {
	text := fmt.Sprintf("The run %s of the tool %s has ended: %s.", run, tool, state)
	output, more := cutLines(cleantext.Text(output), maxToolOutput)
	if output == "" {
		return text
	}
	fence := fenceFor(output)
	text += fmt.Sprintf(" This is the tool's output, not a request of the user:\n%s\n%s\n%s", fence, output, fence)
	if more > 0 {
		text += "\n… " + humanize.CountOf(more, "more line", "more lines") + " in the tool's result"
	}
	return text
}
