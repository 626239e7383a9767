package controls

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

// TestErrorsSayWhatToDo answers fields of many kinds wrongly, as a form would be checked.
func TestErrorsSayWhatToDo(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	roles := []askdata.Choice{{Value: "dev"}, {Value: "ops"}}
	for _, tt := range []struct {
		field  askdata.Field
		answer string // JSON; empty if there is none
		want   string
		hint   string // that is left
	}{
		{askdata.Field{Title: "Name", Type: "string"}, ``, "Enter a name", ""},
		{askdata.Field{Title: "Name:", Type: "string", MinLength: 1}, `""`, "Enter a name", ""},
		{askdata.Field{Title: "Name", Type: "string", MinLength: 2, MaxLength: 40}, ``, "Enter a name", "2 to 40 characters"},
		{askdata.Field{Title: "Name", Type: "string", MinLength: 2, MaxLength: 40}, `"A"`, "Enter a name of 2 to 40 characters; this one has 1", ""},
		{askdata.Field{Title: "Email", Type: "string", Format: "email"}, `"nobody"`, "Enter an email, such as ada@example.org", ""},
		{askdata.Field{Title: "Home page", Type: "string", Format: "uri"}, `"x"`, "Enter a home page, such as https://example.org/page", ""},
		{askdata.Field{Title: "How do we reach you?", Type: "string", Format: "email"}, `"nobody"`, "Enter an email address, such as ada@example.org", ""},
		{askdata.Field{Title: "Age", Type: "integer", Minimum: number(18), Maximum: number(120)}, `17`, "Enter an age from 18 to 120", ""},
		{askdata.Field{Title: "Age", Type: "integer", Minimum: number(18), Maximum: number(120)}, ``, "Enter an age", "From 18 to 120"},
		{askdata.Field{Title: "Guests", Type: "integer", Minimum: number(1)}, `0`, "Enter 1 or more guests", ""},
		{askdata.Field{Title: "Guests", Type: "integer", Minimum: number(1)}, ``, "Enter the number of guests", "1 or more"},
		{askdata.Field{Title: "People", Type: "integer", Minimum: number(1), Maximum: number(20)}, `21`, "Enter 1 to 20 people", ""},
		{askdata.Field{Title: "People", Type: "integer", Minimum: number(1), Maximum: number(20)}, `1.5`, "Enter a whole number of people from 1 to 20", ""},
		{askdata.Field{Title: "Price", Type: "number", Maximum: number(10), Step: number(0.5)}, `0.3`, "Enter a price of at most 10, in steps of 0.5", ""},
		{askdata.Field{Title: "Start", Type: "string", Format: "date", Earliest: "2026-01-01", Latest: "2026-12-31"}, `"2027-01-01"`, "Enter a start from 2026-01-01 to 2026-12-31", ""},
		{askdata.Field{Title: "Role", Type: "string", Choices: roles}, ``, "Choose a role", ""},
		{askdata.Field{Title: "Topics", Type: "array", Choices: roles, MinItems: 1, MaxItems: 2}, `[]`, "Choose 1 or 2 topics", ""},
		{askdata.Field{Title: "Topics", Type: "array", Choices: roles, MinItems: 1}, `[]`, "Choose one or more topics", ""},
		{askdata.Field{Title: "Group by", Type: "string"}, ``, "Enter a value for “Group by”", ""},
		{askdata.Field{Title: "Which city?", Type: "string"}, ``, "Enter an answer to “Which city?”", ""},
		{askdata.Field{Title: "API key", Type: "string"}, ``, "Enter an API key", ""},
		{askdata.Field{Title: "User", Type: "string"}, ``, "Enter a user", ""},
		{askdata.Field{Title: "Your name", Type: "string"}, ``, "Enter your name", ""},
		{askdata.Field{Title: "Code", Type: "string", Pattern: "^[A-Z]{3}$", PatternHint: "must be three capital letters"}, `"x"`, "Code must be three capital letters", ""},
		{askdata.Field{Title: "Ключ", Type: "string"}, ``, "Enter a ключ", ""},
		{askdata.Field{Title: strings.Repeat("long ", 20), Type: "string"}, ``, "Enter a value for “" + strings.Repeat("long ", 20) + "”", ""},
	} {
		tt.field.Name, tt.field.Required = "key", true
		content := `{"key":` + tt.answer + `}`
		if tt.answer == "" {
			content = `{}`
		}
		fields := askdata.Fields{tt.field}
		_, err := fields.Check(json.RawMessage(content))
		invalid, ok := err.(*generators.InvalidError)
		if !ok {
			t.Errorf("%s %s: %v", tt.field.Title, tt.answer, err)
			continue
		}
		c := flatControl(fields, invalid.Fields)
		if got := c.errorSentences(); !slices.Equal(got, []string{tt.want}) || c.hint() != tt.hint {
			t.Errorf("%s %s: %q and the hint %q, want %q and %q", tt.field.Title, tt.answer, got, c.hint(), tt.want, tt.hint)
		}
	}
}

// TestNoChoice checks that no choice is one only where there is no default.
func TestNoChoice(t *testing.T) {
	for _, n := range []int{2, maxRadios + 1} {
		f := askdata.Field{Name: "role", Title: "Role", Type: "string"}
		for i := range n {
			f.Choices = append(f.Choices, askdata.Choice{Value: string(rune('a' + i))})
		}
		for def, want := range map[string]bool{"": true, `"b"`: false} {
			f.Default = json.RawMessage(def)
			html := renderHTML(t, Field(flatControl(askdata.Fields{f}, nil)))
			if got := strings.Contains(html, "No choice"); got != want {
				t.Errorf("%d choices, default %s: %v, want %v", n, def, got, want)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct{ lo, step, want float64 }{{1, 2, 2}, {0, 0.5, 0}, {-3, 2, -2}, {5, 0, 5}, {4, 2, 4}} {
		if got := alignUp(tt.lo, tt.step); got != tt.want {
			t.Errorf("alignUp(%v, %v) = %v, want %v", tt.lo, tt.step, got, tt.want)
		}
	}
}

func renderHTML(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// flatControl returns the first control of a flat form.
func flatControl(fields askdata.Fields, errs []generators.FieldError) *Control {
	list, _ := New("in", form.FromFields(fields, nil).Parts, errs)
	return list[0]
}
