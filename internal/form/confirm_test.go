package form_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

func confirmation() *askdata.Question {
	return &askdata.Question{Kind: askdata.KindConfirm, Message: "Apply?", Yes: "Apply", No: "Keep", Fields: askdata.Fields{{Name: "go", Type: "boolean", Required: true}}}
}

// Over MCP a confirmation has its two verbs.
func TestConfirmationSchemas(t *testing.T) {
	q := confirmation()
	const choice = `{"type":"object","properties":{"go":{"type":"string","oneOf":[{"title":"Apply","const":"yes"},{"title":"Keep","const":"no"}]}},"required":["go"]}`
	if got := string(form.RequestedSchemaOf(q)); got != choice {
		t.Errorf("got %s, want %s", got, choice)
	}
	raw := form.RequestedSchemaOf20250618(q)
	const boolean = `{"type":"object","properties":{"go":{"type":"boolean","title":"Apply (if not: Keep)"}},"required":["go"]}`
	if string(raw) != boolean {
		t.Errorf("got %s, want %s", raw, boolean)
	}
	checkSchema20250618(t, raw)
	q.Fields[0].Default, q.Fields[0].Title = json.RawMessage("false"), "Migrations"
	if got := string(form.RequestedSchemaOf(q)); !strings.Contains(got, `"title":"Migrations","default":"no"`) {
		t.Errorf("with a default: %s", got)
	}
	if got := string(form.RequestedSchemaOf20250618(q)); !strings.Contains(got, `"title":"Migrations: Apply (if not: Keep)","default":false`) {
		t.Errorf("with a default: %s", got)
	}
}

func TestConfirmContent(t *testing.T) {
	for content, want := range map[string]string{
		`{"go":"yes"}`: `{"go":true}`, `{"go":"no"}`: `{"go":false}`, `{"go":"Apply"}`: `{"go":true}`, `{"go":"Keep"}`: `{"go":false}`,
		`{"go":true}`: `{"go":true}`, `{"go":1}`: `{"go":1}`, `{}`: `{}`, `null`: `null`, ``: ``, `[`: `[`,
	} {
		if got, err := form.ConfirmContent(confirmation(), json.RawMessage(content)); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v; want %s", content, got, err, want)
		}
	}
	_, err := form.ConfirmContent(confirmation(), json.RawMessage(`{"go":"maybe"}`))
	if invalid, ok := errors.AsType[*generators.InvalidError](err); !ok || !strings.Contains(invalid.Error(), "must be yes or no") {
		t.Errorf("got %v", err)
	}
	text := &askdata.Question{Kind: askdata.KindText, Fields: askdata.Fields{{Name: "go", Type: "string"}}}
	if got, err := form.ConfirmContent(text, json.RawMessage(`{"go":"yes"}`)); err != nil || string(got) != `{"go":"yes"}` {
		t.Errorf("the content of a text became %s, %v", got, err)
	}
}

func TestYesLabels(t *testing.T) {
	for question, want := range map[string]string{
		"Delete 3 environments?":    "Yes, delete 3 environments",
		"Shall I wipe the disk?":    "Yes, wipe the disk",
		"Do you want to drop it?":   "Yes, drop it",
		"Are you sure?":             "Yes, go ahead",
		"What now?":                 "Yes, go ahead",
		"Delete it. Sure?":          "Yes, go ahead",
		"This destroys everything.": "Yes, go ahead",
		"Delete " + strings.Repeat("everything ", 9) + "?": "Yes, go ahead",
		"?": "Yes, go ahead", "": "Yes, go ahead",
	} {
		if got, _ := form.ConfirmLabels(&askdata.Question{Message: question, Destructive: true}); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}
