package term

import (
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/form"
	"github.com/photon-beam/beam/internal/sampling"
)

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
	key, how := cleantext.Line(q.Key), q.does().howToAnswer
	switch {
	case how != nil:
		return how(q, key)
	case len(q.Fields) == 0:
		return fmt.Sprintf("--answer %s=yes|no", key)
	case len(q.Fields) == 1:
		return fmt.Sprintf("--answer %s=%s", key, Placeholder(&q.Fields[0]))
	}
	return q.describeFlags(func(f *askdata.Field) string {
		return fmt.Sprintf("--answer %s.%s=%s", key, cleantext.Line(f.Name), Placeholder(f))
	})
}

// describeFlags returns the flags for the fields; those of optional ones are in brackets.
func (q *Question) describeFlags(flag func(*askdata.Field) string) string {
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
	if q.does().files {
		return "--file PATH"
	}
	if len(q.Fields) == 0 {
		return "--json {}"
	}
	if len(q.Models) > 0 {
		return "--approve " + strings.Join(modelNames(q.Models), "|") + ", which sends the request; or --text TEXT, in the model's place"
	}
	return q.describeFlags(func(f *askdata.Field) string { return fmt.Sprintf("--%s %s", cleantext.Line(f.Name), Placeholder(f)) })
}

func modelNames(models []sampling.ModelDescription) []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = cleantext.Line(m.Name)
	}
	return names
}

// Placeholder says what the value of a field is.
func Placeholder(f *askdata.Field) string {
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
	case f.Format == askdata.FormatTime:
		return "HH:MM"
	}
	return "TEXT"
}
