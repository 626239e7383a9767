package timeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// AskState is what became of a question.
type AskState string

// The states of a question. Only the first can change.
const (
	Open      AskState = "open"
	Answered  AskState = "answered"
	Declined  AskState = "declined"  // the person said no
	Cancelled AskState = "cancelled" // the person chose nothing
	Expired   AskState = "expired"   // its time ran out
	Withdrawn AskState = "withdrawn" // without an answer, see Ask.Reason
)

// An Ask is a question of the run and, once it has one, its answer.
type Ask struct {
	engine.OpenAsk
	State   AskState
	By      string    // the surface that the answer came from
	Settled time.Time // zero while it is open
	// Reason is why it was withdrawn, and Problem what was in the way.
	Reason  runlog.WithdrawReason
	Problem string
	// Values are the answer's, in words. A secret's is never among them.
	Values []Value
}

// A Value is a part of an answer, as people read it.
type Value struct {
	Label string
	Text  string
}

// Secret tells whether the answer is one that nobody may see.
func (a *Ask) Secret() bool { return a.Question.Kind == ask.KindSecret }

// applyAnswer notes an answer.
func (a *Ask) applyAnswer(d runlog.Answered, at time.Time) {
	a.By, a.Settled = d.Surface, at
	switch d.Answer.Action {
	case ask.Accept:
		a.State = Answered
		a.Values = answerValues(a.Question, d.Answer)
	case ask.Decline:
		a.State = Declined
	default:
		a.State = Cancelled
	}
}

func (a *Ask) applyWithdrawal(d runlog.Withdrawn, at time.Time) {
	a.State, a.Settled, a.Reason, a.Problem = Withdrawn, at, d.Reason, d.Error
	if d.Reason == runlog.Expired {
		a.State = Expired
	}
}

// answerValues says in words what was answered.
func answerValues(q *ask.Question, a ask.Answer) []Value {
	if q.Kind == ask.KindSecret {
		return nil
	}
	var vs []Value
	for _, f := range a.Files {
		vs = append(vs, Value{Label: f.Name, Text: FormatBytes(f.Size)})
	}
	switch q.Kind {
	case ask.KindSample:
		return samplingValues(a.Content)
	case ask.KindRoots:
		return rootsValues(a.Content)
	}
	content := map[string]json.RawMessage{}
	if json.Unmarshal(a.Content, &content) != nil {
		return vs
	}
	for i := range q.Fields {
		f := &q.Fields[i]
		if raw, ok := content[f.Name]; ok && f.Format != ask.FormatSecret {
			vs = append(vs, Value{Label: f.Label(), Text: formatValue(q, f, raw)})
		}
	}
	return vs
}

// maxValueLength bounds how much of one value is shown in a row, in bytes.
const maxValueLength = 2000

func formatValue(q *ask.Question, f *ask.Field, raw json.RawMessage) string {
	var list []string
	var text string
	var yes bool
	switch {
	case f.Type == "boolean" && json.Unmarshal(raw, &yes) == nil:
		return yesNo(q, yes)
	case json.Unmarshal(raw, &text) == nil:
		return truncate(choiceLabel(f, text), maxValueLength)
	case json.Unmarshal(raw, &list) == nil:
		for i, v := range list {
			list[i] = choiceLabel(f, v)
		}
		return truncate(strings.Join(list, ", "), maxValueLength)
	}
	return truncate(string(raw), maxValueLength)
}

func yesNo(q *ask.Question, yes bool) string {
	switch {
	case yes && q.Kind == ask.KindConfirm && q.Yes != "":
		return q.Yes
	case !yes && q.Kind == ask.KindConfirm && q.No != "":
		return q.No
	case yes:
		return "Yes"
	}
	return "No"
}

func choiceLabel(f *ask.Field, value string) string {
	for _, c := range f.Choices {
		if c.Value == value {
			return c.Label()
		}
	}
	return value
}

// FormatBytes is a size as people read it, in powers of 1,000: "12 bytes", "3.4 MB".
func FormatBytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB"} {
		if v /= 1000; v < 999.5 {
			break
		}
	}
	if v < 9.95 {
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}

// Ask is one of the run's questions, whatever became of it; nil if it has none
// with that id.
func (r *Run) Ask(id string) *Ask {
	for _, i := range r.Items {
		if i.Kind == Asked && i.Ask.ID == id {
			return i.Ask
		}
	}
	return nil
}
