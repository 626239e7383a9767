package controls

import (
	"net/url"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/form"
)

// A Text is a text that somebody entered, with the label of its control.
type Text struct{ Label, Text string }

// Entered returns the texts that somebody entered in a question's form, without
// secrets. What is chosen is chosen again as easily.
func Entered(q *ask.Question, entered url.Values) (texts []Text) {
	if q == nil || len(entered) == 0 {
		return nil
	}
	before, _ := New("", form.FromFields(q.Fields, nil).Parts, nil)
	after, _ := New("", form.FromFields(q.Fields, entered).Parts, nil)
	for i, c := range after {
		switch c.widget {
		case "password", constant, checkbox, radios, checkboxes, selectWidget:
			continue
		}
		if text := strings.TrimSpace(c.value()); text != "" && c.value() != before[i].value() {
			texts = append(texts, Text{Label: c.Label(), Text: text})
		}
	}
	return texts
}
