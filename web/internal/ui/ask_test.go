package ui

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/rule"
)

// TestQuestionsAreTheirFieldsLabels checks the errors of a question's only field.
func TestQuestionsAreTheirFieldsLabels(t *testing.T) {
	for kind, want := range map[string]string{"text": "Enter an answer", "select": "Choose an answer"} {
		var o engine.OpenAsk
		o.Question = questions()[kind]
		html := renderHTML(t, AskForm(o, []generators.FieldError{{Path: "/" + o.Question.Fields[0].Name, Message: "is required", Rule: rule.Required}}, nil))
		if n := strings.Count(html, want); n != 2 || strings.Count(html, `class="error"`) != 1 { // also in the summary
			t.Errorf("%s: %q is %d times in %s", kind, want, n, html)
		}
	}
}
