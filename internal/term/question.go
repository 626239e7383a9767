package term

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/term/render"
)

// ShowEvidence shows what a question shows. It returns how much of that it has rendered.
func (v *View) ShowEvidence(q *Question) runlog.Rendering {
	v.commitStatus()
	r := v.artifacts()
	for _, a := range q.Evidence {
		v.screen.Print(r.Render(a))
	}
	if request := q.request(); request != nil {
		v.screen.Print(r.Sample(request))
	}
	if changes := q.Stands.Changes; changes != "" {
		v.screen.Print(v.style.Paint(render.Yellow, "! "+ChangedNote(q.Stands.ChangedBy)) + "\n" + render.Indent("  ", r.Diff(r.Cut([]byte(changes)))) + "\n")
	}
	v.screen.Flush()
	if r.Truncated {
		return runlog.RenderedTruncated
	}
	return runlog.RenderedFull
}

// ChangedNote says that a request isn't shown as the tool asked it.
func ChangedNote(by string) string {
	return "This is not what the tool asked: " + cleantext.Line(cmp.Or(by, "a person")) + " has changed it."
}

// heading returns the message of a question, and until when it can be answered. The message's
// further lines, and all of another server's, have a bar, so that they can't look like what follows.
func (q *Question) heading(style render.Styles, width int) string {
	text := style.Paint(render.Bold+";"+render.Yellow, "? ")
	if q.Server != "" {
		text += render.Wrap(cleantext.Line(runlog.Asker(q.Question, q.Photon))+" asks:", width-2) + "\n│ "
	}
	text += style.Paint(render.Bold, strings.ReplaceAll(render.Wrap(cleantext.Text(q.Message), width-2), "\n", "\n│ ")) + "\n"
	if q.Note != "" {
		text += style.Paint(render.Yellow, "  ! "+render.Wrap(cleantext.Text(q.Note), width-4)) + "\n"
	}
	if q.Destructive {
		text += style.Paint(render.Red, "  This can't be undone.") + "\n"
	}
	if q.URL != "" {
		text += "  " + style.Paint(render.Under, cleantext.Line(q.URL)) + "\n"
		for _, caution := range cleantext.AddressCautions(q.URL) {
			text += style.Paint(render.Yellow, "  ! "+render.Wrap(cleantext.Line(caution), width-4)) + "\n"
		}
	}
	if !q.Deadline.IsZero() {
		by := "  Answer by " + formatDeadline(q.Deadline.Local(), time.Now())
		if left := time.Until(q.Deadline); left > 0 {
			by += ": " + humanize.Clock(left) + " left"
		}
		text += style.Paint(render.Yellow, by) + "\n"
	}
	if q.Lost != "" {
		text += style.Paint(render.Faint, "  "+q.Lost) + "\n"
	}
	return text
}

// formatDeadline returns a time, with its date if that isn't today.
func formatDeadline(t, now time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("Mon " + time.DateOnly + " 15:04")
}

// showSampling shows the call of a model that a person has approved.
func (v *View) showSampling(d *runlog.Sampling) {
	switch {
	case d.Approved != nil:
		text := "Sent to the model " + cleantext.Line(d.Approved.Model)
		if d.Approved.Request != nil {
			text += ", changed"
		}
		v.line(v.style.Paint(render.Cyan, "→ ") + text)
	case d.Notice != "":
		v.line(v.style.Paint(render.Yellow, "! ") + cleantext.Line(d.Notice))
	case d.Text != "":
		v.screen.Stream(cleantext.Text(d.Text))
	case d.Ended != nil && d.Ended.Result == nil:
		v.line(v.style.Paint(render.Red, "✗ ") + cmp.Or(cleantext.Line(d.Ended.Error), "The call was stopped"))
	}
}

// showAnswer shows how a question was answered, and where and by whom if not here or if
// who reads may be somebody else.
func (v *View) showAnswer(q *Question, a *runlog.Answered, always bool) {
	var text string
	switch a.Answer.Action {
	case askdata.Accept:
		text = describeContent(q, a)
	default:
		text = v.style.Paint(render.Yellow, outcome.OfAnswer(a.Answer.Action))
	}
	if text == "" {
		text = "answered"
	}
	if q.Kind == askdata.KindSample && isEdited(a.Answer) {
		text += v.style.Paint(render.Yellow, " (the model's reply, changed by a person)")
	}
	if a.Surface != "terminal" || always {
		text += v.style.Paint(render.Faint, " ("+cleantext.Line(a.Surface)+by(a, always)+")")
	}
	v.line(v.style.Paint(render.Green, "✓ ") + cleantext.Line(q.Message) + " " + v.style.Paint(render.Cyan, text))
}

// isEdited reports whether an answer is the reply of a model that a person changed.
func isEdited(a askdata.Answer) bool {
	var r ask.SampleResult
	return json.Unmarshal(a.Content, &r) == nil && r.Edited
}

// by says who answered, if the name is known or what their id stands for is to be told, too.
func by(a *runlog.Answered, always bool) string {
	if a.Caller != nil && (always || a.Caller.Name != "") {
		return ", " + cleantext.Line(callers.Describe(a.Caller.ID, a.Caller.Name))
	}
	return ""
}

// showWithdrawal shows that nobody answers a question any more.
func (v *View) showWithdrawal(q *Question, w *runlog.Withdrawn) {
	if w.Reason == runlog.RunEnded {
		return
	}
	text := map[runlog.WithdrawReason]string{runlog.Expired: "was not answered in time"}[w.Reason]
	v.line(v.style.Paint(render.Red, "✗ ") + cleantext.Line(q.Message) + " " + v.style.Paint(render.Yellow, cmp.Or(text, cleantext.Line(string(w.Reason)+" "+w.Error))))
}

// maxAnswer is how much of an answer is shown, in characters.
const maxAnswer = 120

// describeContent returns an accepted answer in a line.
func describeContent(q *Question, a *runlog.Answered) string {
	told := q.does().told
	switch {
	case a.Sealed != nil:
		return hiddenValue
	case told != "":
		return told
	case len(a.Answer.Files) > 0:
		names := make([]string, len(a.Answer.Files))
		for i, f := range a.Answer.Files {
			names[i] = cleantext.Line(f.Name)
		}
		return strings.Join(names, ", ")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(a.Answer.Content, &members) != nil {
		return ""
	}
	if len(q.Fields) == 1 {
		return humanize.Truncate(describeValue(&q.Fields[0], members[q.Fields[0].Name]), maxAnswer)
	}
	var parts []string
	for i := range q.Fields {
		f := &q.Fields[i]
		if raw, ok := members[f.Name]; ok {
			parts = append(parts, cleantext.Line(f.Label())+": "+describeValue(f, raw))
		}
	}
	return humanize.Truncate(strings.Join(parts, ", "), maxAnswer)
}

// describeValue returns the value of a field as text: the label of a choice, yes or no.
func describeValue(f *askdata.Field, raw json.RawMessage) string {
	label := func(value string) string {
		for _, c := range f.Choices {
			if c.Value == value {
				value = c.Label()
			}
		}
		return cleantext.Line(value)
	}
	var list []string
	switch {
	case string(raw) == "true":
		return "yes"
	case string(raw) == "false":
		return "no"
	case f.Format == askdata.FormatSecret:
		return hiddenValue
	case json.Unmarshal(raw, &list) == nil:
		for i := range list {
			list[i] = label(list[i])
		}
		return strings.Join(list, ", ")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return label(text)
	}
	return cleantext.Line(string(raw))
}
