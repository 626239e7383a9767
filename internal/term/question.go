package term

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

// ShowEvidence shows what a question shows. It returns how much of that it has rendered.
func (v *View) ShowEvidence(q *Question) runlog.Rendering {
	v.commitStatus()
	r := v.artifacts()
	for _, a := range q.Evidence {
		v.screen.Print(r.render(a))
	}
	if q.Sample != nil {
		v.screen.Print(r.sample(q.Sample))
	}
	v.screen.Flush()
	if r.truncated {
		return runlog.RenderedTruncated
	}
	return runlog.RenderedFull
}

// heading returns the message of a question, and until when it can be answered.
func (q *Question) heading(style styles, width int) string {
	text := style.paint(bold+";"+yellow, "? ") + style.paint(bold, wrap(cleantext.Text(q.Message), width-2)) + "\n"
	if q.Destructive {
		text += style.paint(red, "  This can't be undone.") + "\n"
	}
	if q.URL != "" {
		text += "  " + style.paint(under, cleantext.Line(q.URL)) + "\n"
	}
	if !q.Deadline.IsZero() {
		left := max(time.Until(q.Deadline), 0)
		text += style.paint(yellow, "  Answer by "+q.Deadline.Local().Format(time.TimeOnly)+": "+humanize.Clock(left)+" left") + "\n"
	}
	return text
}

// showSampling shows the call of a model that a person has approved.
func (v *View) showSampling(d *runlog.Sampling) {
	switch {
	case d.Approved != nil:
		v.line(v.style.paint(cyan, "→ ") + "Sent to the model " + cleantext.Line(d.Approved.Model))
	case d.Notice != "":
		v.line(v.style.paint(yellow, "! ") + cleantext.Line(d.Notice))
	case d.Text != "":
		v.screen.Stream(cleantext.Text(d.Text))
	case d.Ended != nil && d.Ended.Result == nil:
		v.line(v.style.paint(red, "✗ ") + cmp.Or(cleantext.Line(d.Ended.Error), "The call was stopped"))
	}
}

// showAnswer shows how a question was answered, and by whom if not here.
func (v *View) showAnswer(q *Question, a *runlog.Answered) {
	var text string
	switch a.Answer.Action {
	case ask.Accept:
		text = describeContent(q, a)
	case ask.Decline:
		text = v.style.paint(yellow, "declined")
	default:
		text = v.style.paint(yellow, "dismissed")
	}
	if text == "" {
		text = "answered"
	}
	if a.Surface != "terminal" {
		text += v.style.paint(faint, " ("+cleantext.Line(a.Surface)+by(a)+")")
	}
	v.line(v.style.paint(green, "✓ ") + cleantext.Line(q.Message) + " " + v.style.paint(cyan, text))
}

// by says who answered, if the name is known.
func by(a *runlog.Answered) string {
	if a.Caller != nil && a.Caller.Name != "" {
		return ", " + cleantext.Line(a.Caller.Name)
	}
	return ""
}

// showWithdrawal shows that nobody answers a question any more.
func (v *View) showWithdrawal(q *Question, w *runlog.Withdrawn) {
	if w.Reason == runlog.RunEnded {
		return
	}
	text := map[runlog.WithdrawReason]string{runlog.Expired: "was not answered in time"}[w.Reason]
	v.line(v.style.paint(red, "✗ ") + cleantext.Line(q.Message) + " " + v.style.paint(yellow, cmp.Or(text, cleantext.Line(string(w.Reason)+" "+w.Error))))
}

// maxAnswer is how much of an answer is shown, in characters.
const maxAnswer = 120

// describeContent returns an accepted answer in a line.
func describeContent(q *Question, a *runlog.Answered) string {
	switch {
	case q.Kind == ask.KindSecret || a.Sealed != nil:
		return "••••••"
	case len(a.Answer.Files) > 0:
		names := make([]string, len(a.Answer.Files))
		for i, f := range a.Answer.Files {
			names[i] = cleantext.Line(f.Name)
		}
		return strings.Join(names, ", ")
	case q.Kind == ask.KindURL:
		return "opened"
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
func describeValue(f *ask.Field, raw json.RawMessage) string {
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
	case f.Format == ask.FormatSecret:
		return "••••••"
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
