package timeline

import (
	"encoding/json"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/humanize"
)

// answerViews maps every kind of question to the text of its answers. Answers to
// any other kind are shown as JSON.
var answerViews = map[askdata.Kind]func(*askdata.Question, askdata.Answer) []Value{
	askdata.KindText:        fieldValues,
	askdata.KindSecret:      func(*askdata.Question, askdata.Answer) []Value { return nil },
	askdata.KindConfirm:     fieldValues,
	askdata.KindSelect:      fieldValues,
	askdata.KindMultiSelect: fieldValues,
	askdata.KindNumber:      fieldValues,
	askdata.KindInteger:     fieldValues,
	askdata.KindDate:        fieldValues,
	askdata.KindDateTime:    fieldValues,
	askdata.KindFile:        fileValues,
	askdata.KindForm:        fieldValues,
	askdata.KindURL:         fieldValues,
	askdata.KindSample:      func(_ *askdata.Question, a askdata.Answer) []Value { return samplingValues(a.Content) },
	askdata.KindRoots:       func(_ *askdata.Question, a askdata.Answer) []Value { return rootsValues(a.Content) },
}

// answerValues returns an answer as text.
func answerValues(q *askdata.Question, a askdata.Answer) []Value {
	if values, ok := answerViews[q.Kind]; ok {
		return values(q, a)
	}
	if len(a.Content) == 0 {
		return nil
	}
	return []Value{{Label: string(q.Kind), Text: humanize.TruncateBytes(string(a.Content), maxValueLength, " …")}}
}

func fileValues(_ *askdata.Question, a askdata.Answer) []Value {
	var vs []Value
	for _, f := range a.Files {
		vs = append(vs, Value{Label: f.Name, Text: humanize.Bytes(f.Size)})
	}
	return vs
}

// fieldValues returns the values of a form's fields, without those of secret fields.
func fieldValues(q *askdata.Question, a askdata.Answer) []Value {
	content := map[string]json.RawMessage{}
	if json.Unmarshal(a.Content, &content) != nil {
		return nil
	}
	var vs []Value
	for i := range q.Fields {
		f := &q.Fields[i]
		if raw, ok := content[f.Name]; ok && f.Format != askdata.FormatSecret {
			vs = append(vs, Value{Label: f.Label(), Text: formatValue(q, f, raw)})
		}
	}
	return vs
}

// maxValueLength limits the text of one value, in bytes.
const maxValueLength = 2000

func formatValue(q *askdata.Question, f *askdata.Field, raw json.RawMessage) string {
	var list []string
	var text string
	var yes bool
	switch {
	case f.Type == "boolean" && json.Unmarshal(raw, &yes) == nil:
		return yesNo(q, yes)
	case json.Unmarshal(raw, &text) == nil:
		return humanize.TruncateBytes(choiceLabel(f, text), maxValueLength, " …")
	case json.Unmarshal(raw, &list) == nil:
		for i, v := range list {
			list[i] = choiceLabel(f, v)
		}
		return humanize.TruncateBytes(strings.Join(list, ", "), maxValueLength, " …")
	}
	return humanize.TruncateBytes(string(raw), maxValueLength, " …")
}

func yesNo(q *askdata.Question, yes bool) string {
	switch {
	case yes && q.Kind == askdata.KindConfirm && q.Yes != "":
		return q.Yes
	case !yes && q.Kind == askdata.KindConfirm && q.No != "":
		return q.No
	case yes:
		return "Yes"
	}
	return "No"
}

func choiceLabel(f *askdata.Field, value string) string {
	for _, c := range f.Choices {
		if c.Value == value {
			return c.Label()
		}
	}
	return value
}
