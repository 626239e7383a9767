package runlog

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/driver"
)

// ShownQuestion returns a question as people read it, on every surface and in the log: with
// its texts as [cleantext.Text] returns them. What an answer has stays as it is: the names of
// fields and the values of choices, which get titles if they can't be read as they are. So
// do the bodies of what the question shows and requests to models, which surfaces clean when
// they render them. A suggested text is cleaned, since the person sends what they see.
// The question itself isn't changed.
func ShownQuestion(q *askdata.Question) *askdata.Question {
	shown := *q
	shown.Message, shown.Yes, shown.No = cleantext.Text(q.Message), cleantext.Line(q.Yes), cleantext.Line(q.No)
	shown.Server, shown.Tool, shown.Note = cleantext.Line(q.Server), cleantext.Line(q.Tool), cleantext.Text(q.Note)
	if cleantext.Line(q.URL) != q.URL {
		shown.URL = cleantext.Address(q.URL)
	}
	shown.Fields = slices.Clone(q.Fields)
	for i := range shown.Fields {
		showField(&shown.Fields[i])
	}
	if len(q.Evidence) > 0 {
		shown.Evidence = slices.Clone(q.Evidence)
	}
	for i, a := range q.Evidence {
		shown.Evidence[i] = ShownArtifact(a)
	}
	return &shown
}

// Revise returns the question of a request to a model with the message of a version of it: what
// a person removed from the request isn't quoted. The question itself isn't changed.
func Revise(q *askdata.Question, version *ask.SampleRequest) *askdata.Question {
	revised := *q
	revised.Message = MessageOf(version)
	return &revised
}

// MessageOf returns the message of a question that asks for the reply of a model.
func MessageOf(request *ask.SampleRequest) (message string) {
	_, _ = ask.Sample(func(e generators.Event) bool { // which asks nobody
		if c, ok := driver.CallOf(e); ok {
			q, _ := askdata.Of(c)
			message = cleantext.Text(q.Message)
		}
		return false
	}, "sample", *request)
	return cmp.Or(message, "Request to a model, changed by a person.")
}

func showField(f *askdata.Field) {
	f.Title, f.Description, f.PatternHint = cleantext.Line(f.Title), cleantext.Text(f.Description), cleantext.Line(f.PatternHint)
	if name := cleantext.Name(f.Label()); name != f.Label() {
		f.Title = name
	}
	f.Choices = slices.Clone(f.Choices)
	for i, c := range f.Choices {
		if label := cleantext.Name(c.Label()); label != c.Label() {
			f.Choices[i].Title = label
		}
	}
	var suggested string
	if len(f.Choices) == 0 && json.Unmarshal(f.Default, &suggested) == nil {
		if clean := cleantext.Text(suggested); clean != suggested {
			f.Default, _ = json.Marshal(clean) // a text
		}
	}
}

// ShownArtifact returns an artifact with its title as people read it. The artifact itself
// isn't changed.
func ShownArtifact(a *generators.Artifact) *generators.Artifact {
	title := cleantext.Line(a.Title)
	if title == a.Title {
		return a
	}
	shown := *a
	shown.Title = title
	return &shown
}
