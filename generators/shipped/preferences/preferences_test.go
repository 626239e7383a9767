package preferences_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/generators/shipped/preferences"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/form"
)

func run(t *testing.T, response beamtest.Response) *beamtest.Outcome {
	t.Helper()
	return beamtest.Run(t, preferences.Photon, "{}", beamtest.Script{"preferences": response})
}

func TestPreferences(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{
			`{"outputFormat":"markdown","verbosity":"normal","includeTimestamps":true}`,
			"User preferences: {\n  \"outputFormat\": \"markdown\",\n  \"verbosity\": \"normal\",\n  \"includeTimestamps\": true\n}",
		},
		{ // false isn't blank
			`{"outputFormat":"json","includeTimestamps":false}`,
			"User preferences: {\n  \"outputFormat\": \"json\",\n  \"includeTimestamps\": false\n}",
		},
		{ // a default isn't an answer
			`{"outputFormat":"plain"}`,
			"User preferences: {\n  \"outputFormat\": \"plain\"\n}",
		},
	} {
		p := run(t, beamtest.Accept(json.RawMessage(test.content)))
		if got := beamtest.Decode[string](t, p); got != test.want {
			t.Errorf("%s: got %q, want %q", test.content, got, test.want)
		}
	}
}

// Existing clients rely on this form.
func TestQuestion(t *testing.T) {
	q := run(t, beamtest.Decline()).Questions["preferences"]
	if want := "Please configure your preferences for this operation:"; q.Message != want {
		t.Errorf("the message is %q, want %q", q.Message, want)
	}
	const source = `{
		"type": "object",
		"properties": {
			"outputFormat": {"type": "string", "title": "Output Format",
				"description": "How should results be formatted?", "enum": ["json", "markdown", "plain"]},
			"verbosity": {"type": "string", "title": "Verbosity Level", "enum": ["minimal", "normal", "verbose"]},
			"includeTimestamps": {"type": "boolean", "title": "Include Timestamps", "default": true}
		},
		"required": ["outputFormat"]
	}`
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var recorded askdata.Question
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	if got, want := tree(t, form.RequestedSchema(recorded.Fields)), tree(t, []byte(source)); !reflect.DeepEqual(got, want) {
		t.Errorf("the schema is\n%v, want\n%v", got, want)
	}
}

func tree(t *testing.T, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestInvalidAnswers(t *testing.T) {
	for _, content := range []string{`{}`, `{"verbosity":"normal"}`, `{"outputFormat":"xml"}`, `{"outputFormat":"json","includeTimestamps":"yes"}`} {
		var invalid *generators.InvalidError
		if p := run(t, beamtest.Accept(json.RawMessage(content))); !errors.As(p.Err, &invalid) {
			t.Errorf("%s: got %s, %v", content, p.Result, p.Err)
		}
	}
}

func TestUnansweredQuestion(t *testing.T) {
	for want, response := range map[error]beamtest.Response{
		ask.ErrDeclined: beamtest.Decline(), ask.ErrCancelled: beamtest.Cancel(), ask.ErrTimeout: beamtest.Fail(ask.ErrTimeout),
	} {
		if p := run(t, response); !errors.Is(p.Err, want) || p.Result != nil {
			t.Errorf("got %s, %v; want %v", p.Result, p.Err, want)
		}
	}
}
