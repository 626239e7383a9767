package term

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runs"
)

// Prepared are answers that are known before the questions are asked, by the questions'
// keys. The zero value has none.
type Prepared struct {
	texts    map[string][]string        // by key, or by key.field
	values   map[string]json.RawMessage // by key
	declined map[string]bool
	used     map[string]bool
}

// AddText adds key=value, or key.field=value for a field of a form. A second value for the
// same key makes a list.
func (p *Prepared) AddText(pair string) error {
	key, value, found := strings.Cut(pair, "=")
	if !found || key == "" {
		return fmt.Errorf("%q must be KEY=VALUE, or KEY.FIELD=VALUE for a field of a form", pair)
	}
	if p.texts == nil {
		p.texts = make(map[string][]string)
	}
	p.texts[key] = append(p.texts[key], value)
	return nil
}

// AddJSON adds the members of an object: the values of questions, or objects of the values
// of their fields, by key. A null declines the question. AddText takes precedence.
func (p *Prepared) AddJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("it must be a JSON object of answers by the questions' keys: %w", err)
	}
	if p.values == nil {
		p.values = make(map[string]json.RawMessage)
	}
	for key, value := range members {
		if string(value) == "null" {
			p.AddDecline(key)
			continue
		}
		p.values[key] = value
	}
	return nil
}

// AddDecline declines the question of a key.
func (p *Prepared) AddDecline(key string) {
	if p.declined == nil {
		p.declined = make(map[string]bool)
	}
	p.declined[key] = true
}

// Unused returns the keys for which there was no question.
func (p *Prepared) Unused() []string {
	var unused []string
	for _, keys := range [][]string{slices.Collect(maps.Keys(p.texts)), slices.Collect(maps.Keys(p.declined))} {
		for _, key := range keys {
			if !p.used[key] {
				unused = append(unused, key)
			}
		}
	}
	slices.Sort(unused)
	return unused
}

// use marks a key as used and returns true.
func (p *Prepared) use(key string) bool {
	if p.used == nil {
		p.used = make(map[string]bool)
	}
	p.used[key] = true
	return true
}

// find returns the answer to a question, and whether there is one. The error says what is
// wrong with it.
func (p *Prepared) find(q *Question) (a runs.Answer, found bool, err error) {
	values, hasTexts := p.textsFor(q)
	value, hasValue := p.values[q.Key]
	switch {
	case p.declined[q.Key]:
		p.use(q.Key)
		return runs.Answer{Action: ask.Decline}, true, nil
	case hasTexts:
		a, err = answerFromTexts(q, values)
	case hasValue:
		a, err = answerFromJSON(q, value)
	default:
		return a, false, nil
	}
	if err == nil && a.Action == ask.Accept && q.Kind != ask.KindFile {
		_, err = q.Check(ask.Answer{Action: a.Action, Content: a.Content})
	}
	if err != nil {
		return a, true, fmt.Errorf("the prepared answer to %s is not valid: %w", q.Key, err)
	}
	return a, true, nil
}

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
	last := ""
	if isWhole {
		last = whole[len(whole)-1]
	}
	switch {
	case q.Kind == ask.KindFile:
		return runs.Answer{Action: ask.Accept, Files: whole}, nil
	case q.Kind == ask.KindURL:
		return consent(last)
	case isWhole && len(q.Fields) == 0:
		a, err := consent(last)
		if a.Action == ask.Accept {
			a.Content = json.RawMessage("{}")
		}
		return a, err
	case isWhole && len(q.Fields) == 1:
		values.Del("")
		values[q.Fields[0].Name] = normalizeTexts(&q.Fields[0], whole)
	case isWhole && rawjson.TypeName(json.RawMessage(last)) == rawjson.ObjectType:
		return runs.Answer{Action: ask.Accept, Content: json.RawMessage(last)}, nil
	case isWhole:
		return runs.Answer{}, fmt.Errorf("it is a form: answer its fields, as in --answer %s.%s=VALUE, or a JSON object", q.Key, fieldNames(q.Fields)[0])
	}
	for name := range values {
		f := q.Fields.Field(name)
		if f == nil && len(q.Fields) == 0 {
			return runs.Answer{}, fmt.Errorf("it has no fields: answer it with --answer %s=yes or no", q.Key)
		}
		if f == nil {
			return runs.Answer{}, fmt.Errorf("it has no field %q, but %s", name, strings.Join(fieldNames(q.Fields), ", "))
		}
		values[name] = normalizeTexts(f, values[name])
	}
	addDefaults(q.Fields, values)
	return runs.Answer{Action: ask.Accept, Content: form.Decode(q.Fields, values, time.Local)}, nil
}

// addDefaults adds the initial values of fields for which there is no text, as they are in
// the form on the page.
func addDefaults(fields ask.Fields, values url.Values) {
	for i := range fields {
		f := &fields[i]
		if _, ok := values[f.Name]; !ok && f.Default != nil {
			values[f.Name] = defaultTexts(f)
		}
	}
}

// defaultTexts returns a field's initial value as texts.
func defaultTexts(f *ask.Field) []string {
	var list []string
	var text string
	switch {
	case f.Default == nil:
		return nil
	case json.Unmarshal(f.Default, &list) == nil:
		return list
	case json.Unmarshal(f.Default, &text) == nil:
		return []string{text}
	}
	return []string{string(f.Default)}
}

// normalizeTexts returns texts as a form has them: yes and no for a checkbox, the value of
// a choice for its label, and the members of a JSON list.
func normalizeTexts(f *ask.Field, texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		var list []string
		switch {
		case f.Type == "boolean":
			text = normalizeBool(text)
		case f.Type == "array" && json.Unmarshal([]byte(text), &list) == nil:
			out = append(out, list...)
			continue
		case !slices.ContainsFunc(f.Choices, func(c ask.Choice) bool { return c.Value == text }):
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

func consent(text string) (runs.Answer, error) {
	switch normalizeBool(text) {
	case "true":
		return runs.Answer{Action: ask.Accept}, nil
	case "false":
		return runs.Answer{Action: ask.Decline}, nil
	}
	return runs.Answer{}, fmt.Errorf("must be yes or no, not %q", text)
}

// answerFromJSON returns the answer that a JSON value is.
func answerFromJSON(q *Question, value json.RawMessage) (runs.Answer, error) {
	switch {
	case q.Kind == ask.KindFile:
		var list []string
		if json.Unmarshal(value, &list) != nil {
			var path string
			if err := json.Unmarshal(value, &path); err != nil {
				return runs.Answer{}, fmt.Errorf("must be the path of a file, or a list of paths")
			}
			list = []string{path}
		}
		return runs.Answer{Action: ask.Accept, Files: list}, nil
	case q.Kind == ask.KindURL:
		return consent(string(value))
	case rawjson.TypeName(value) != rawjson.ObjectType && len(q.Fields) == 1:
		value = append(append(append(rawjson.AppendText([]byte{'{'}, q.Fields[0].Name), ':'), value...), '}')
	}
	return runs.Answer{Action: ask.Accept, Content: value}, nil
}

func fieldNames(fields ask.Fields) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names
}

// An UnansweredError means that a question has no prepared answer and nobody can be asked.
type UnansweredError struct {
	Question *Question
	// Command answers it with flags for the fields; empty for the flags of a command that
	// follows the run.
	Command string
}

func (e *UnansweredError) Error() string {
	q := e.Question
	text := fmt.Sprintf("the question %s has no answer: %s\n  kind:   %s\n", cleantext.Line(q.Key), cleantext.Line(q.Message), q.Kind)
	if len(q.Fields) > 0 {
		text += "  schema: " + cleantext.Line(string(form.RequestedSchemaOf(q.Question))) + "\n"
	}
	if e.Command != "" {
		return text + "  answer: " + e.Command + " " + q.flags()
	}
	return text + "  answer: " + q.howToAnswer()
}

// howToAnswer returns the flags that answer the question.
func (q *Question) howToAnswer() string {
	key := cleantext.Line(q.Key)
	switch {
	case q.Kind == ask.KindFile:
		return fmt.Sprintf("--answer %s=PATH", key)
	case q.Kind == ask.KindURL:
		return fmt.Sprintf("--answer %s=yes, once you have opened %s", key, cleantext.Line(q.URL))
	case q.Kind == ask.KindSecret:
		return fmt.Sprintf("--answers FILE, a JSON object such as {%q: VALUE}", key)
	case len(q.Fields) == 0:
		return fmt.Sprintf("--answer %s=yes|no", key)
	case len(q.Fields) == 1:
		return fmt.Sprintf("--answer %s=%s", key, placeholder(&q.Fields[0]))
	}
	return q.describeFlags(func(f *ask.Field) string {
		return fmt.Sprintf("--answer %s.%s=%s", key, cleantext.Line(f.Name), placeholder(f))
	})
}

// describeFlags returns the flags for the fields; those of optional ones are in brackets.
func (q *Question) describeFlags(flag func(*ask.Field) string) string {
	parts := make([]string, len(q.Fields))
	for i := range q.Fields {
		parts[i] = flag(&q.Fields[i])
		if !q.Fields[i].Required {
			parts[i] = "[" + parts[i] + "]"
		}
	}
	return strings.Join(parts, " ")
}

// flags returns the flags of the command that answers one question.
func (q *Question) flags() string {
	if q.Kind == ask.KindFile {
		return "--file PATH"
	}
	if len(q.Fields) == 0 {
		return "--json {}"
	}
	return q.describeFlags(func(f *ask.Field) string { return fmt.Sprintf("--%s %s", cleantext.Line(f.Name), placeholder(f)) })
}

// placeholder says what the value of a field is.
func placeholder(f *ask.Field) string {
	switch {
	case f.Type == "boolean":
		return "yes|no"
	case len(f.Choices) > 0 && len(f.Choices) <= 6:
		values := make([]string, len(f.Choices))
		for i, c := range f.Choices {
			values[i] = cleantext.Line(c.Value)
		}
		return strings.Join(values, "|")
	case f.Type == "number" || f.Type == "integer":
		return "NUMBER"
	case f.Format == "date":
		return "YYYY-MM-DD"
	case f.Format == "date-time":
		return "YYYY-MM-DDTHH:MM"
	case f.Format == ask.FormatTime:
		return "HH:MM"
	}
	return "TEXT"
}
