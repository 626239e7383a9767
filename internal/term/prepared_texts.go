package term

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runs"
)

// textsFor returns the texts for a question, by field; those for the question as a whole
// have the name "".
func (p *Prepared) textsFor(q *Question) (url.Values, bool) {
	values := url.Values{}
	for name, texts := range p.texts {
		field, isField := strings.CutPrefix(name, q.Key+".")
		switch {
		case name == q.Key:
			values[""] = texts
		case isField && (q.Fields.Field(field) != nil || len(q.Fields) != 1):
			values[field] = texts
		default:
			continue
		}
		p.use(name)
	}
	return values, len(values) > 0
}

// answerFromTexts returns the answer that texts are.
func answerFromTexts(q *Question, values url.Values) (runs.Answer, error) {
	whole, isWhole := values[""]
	if texts := q.does().texts; texts != nil {
		return texts(whole)
	}
	switch last := lastOf(whole); {
	case isWhole && len(q.Fields) == 0:
		a, err := consent(last)
		if a.Action == askdata.Accept {
			a.Content = json.RawMessage("{}")
		}
		return a, err
	case isWhole && len(q.Fields) == 1:
		values.Del("")
		values[q.Fields[0].Name] = whole
	case isWhole && rawjson.TypeName(json.RawMessage(last)) == rawjson.ObjectType:
		return runs.Answer{Action: askdata.Accept, Content: json.RawMessage(last)}, nil
	case isWhole:
		return runs.Answer{}, fmt.Errorf("it is a form: answer its fields, as in --answer %s.%s=VALUE, or a JSON object", q.Key, fieldNames(q.Fields)[0])
	}
	for name, texts := range values {
		f := q.Fields.Field(name)
		if f == nil && len(q.Fields) == 0 {
			return runs.Answer{}, fmt.Errorf("it has no fields: answer it with --answer %s=yes or no", q.Key)
		}
		if f == nil {
			return runs.Answer{}, fmt.Errorf("it has no field %q, but %s", name, strings.Join(fieldNames(q.Fields), ", "))
		}
		if err := checkBool(f, texts); err != nil {
			return runs.Answer{}, err
		}
		values[name] = normalizeTexts(f, texts)
	}
	addDefaults(q.Fields, values)
	return runs.Answer{Action: askdata.Accept, Content: form.Decode(q.Fields, values, time.Local)}, nil
}

// lastOf returns the text that counts where only one can: the last one.
func lastOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// addDefaults adds the initial values of fields for which there is no text, as they are in
// the form on the page.
func addDefaults(fields askdata.Fields, values url.Values) {
	for i := range fields {
		f := &fields[i]
		if _, ok := values[f.Name]; !ok && f.Default != nil {
			values[f.Name] = defaultTexts(f)
		}
	}
}

// defaultTexts returns a field's initial value as texts.
func defaultTexts(f *askdata.Field) []string {
	var list []string
	var text string
	switch {
	case f.Default == nil:
		return nil
	case f.Type == "":
		return []string{string(f.Default)}
	case json.Unmarshal(f.Default, &list) == nil:
		return list
	case json.Unmarshal(f.Default, &text) == nil:
		return []string{text}
	}
	return []string{string(f.Default)}
}

// normalizeTexts returns texts as a form has them: yes and no for a checkbox, the value of
// a choice for its label, and the members of a JSON list.
func normalizeTexts(f *askdata.Field, texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		var list []string
		switch {
		case f.Type == "boolean":
			text = normalizeBool(text)
		case f.Type == "array" && json.Unmarshal([]byte(text), &list) == nil:
			out = append(out, list...)
			continue
		case !slices.ContainsFunc(f.Choices, func(c askdata.Choice) bool { return c.Value == text }):
			for _, c := range f.Choices {
				if strings.EqualFold(c.Title, text) {
					text = c.Value
				}
			}
		}
		out = append(out, text)
	}
	return out
}

func normalizeBool(text string) string {
	switch strings.ToLower(text) {
	case "yes", "y", "true", "on", "1":
		return "true"
	case "no", "n", "false", "off", "0":
		return "false"
	}
	return cmp.Or(text, "empty") // an empty text would be false
}

// checkBool returns an error for a text that is neither yes nor no, if the field is one of
// the two.
func checkBool(f *askdata.Field, texts []string) error {
	if f.Type != "boolean" {
		return nil
	}
	for _, text := range texts {
		if b := normalizeBool(text); b != "true" && b != "false" {
			return fmt.Errorf("%s must be yes or no, not %q", f.Name, text)
		}
	}
	return nil
}

// answerFromJSON returns the answer that a JSON value is.
func answerFromJSON(q *Question, value json.RawMessage) (runs.Answer, error) {
	if read := q.does().value; read != nil {
		return read(value)
	}
	if rawjson.TypeName(value) != rawjson.ObjectType && len(q.Fields) == 1 {
		value = append(append(append(rawjson.AppendText([]byte{'{'}, q.Fields[0].Name), ':'), value...), '}')
	}
	return runs.Answer{Action: askdata.Accept, Content: value}, nil
}

func fieldNames(fields askdata.Fields) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names
}
