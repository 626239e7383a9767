package beamtest

import (
	"encoding/json"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

// A Question is a question that a photon has asked. Its JSON form, for a golden file, is the
// question as Beam records it.
type Question struct {
	// Kind is the function of package ask that asked it, in lower case: "text", "confirm",
	// "multiselect" and so on.
	Kind    string
	Message string
	// Evidence is what the question shows; see [ask.Showing].
	Evidence []*generators.Artifact
	// Sample is the request to a model; nil for other kinds.
	Sample *ask.SampleRequest

	asked *askdata.Question
}

func newQuestion(q *askdata.Question) *Question {
	return &Question{string(q.Kind), q.Message, q.Evidence, asking.SampleOf(q), q}
}

// Choices returns the choices of a field; nil if there are none, or no such field. The field
// of a question that isn't a form has the question's key as its name.
func (q *Question) Choices(field string) []ask.Choice {
	f := q.asked.Fields.Field(field)
	if f == nil || len(f.Choices) == 0 {
		return nil
	}
	choices := make([]ask.Choice, len(f.Choices))
	for i, c := range f.Choices {
		choices[i] = ask.Choice(c)
	}
	return choices
}

// Default returns the initial value of a field; nil if there is none, or no such field.
func (q *Question) Default(field string) json.RawMessage {
	if f := q.asked.Fields.Field(field); f != nil {
		return f.Default
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (q *Question) MarshalJSON() ([]byte, error) { return json.Marshal(q.asked) }
