package form_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
)

// fieldErrors returns the messages of an InvalidError, by path.
func fieldErrors(t *testing.T, err error) map[string]string {
	t.Helper()
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("the error is a %T (%v), not an InvalidError", err, err)
	}
	messages := make(map[string]string)
	for _, f := range invalid.Fields {
		if messages[f.Path] != "" {
			messages[f.Path] += "; "
		}
		messages[f.Path] += f.Message
	}
	return messages
}

// schema parses a schema.
func schema(t *testing.T, raw string) *generators.Schema {
	t.Helper()
	s, err := generators.ParseSchema(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares JSON with a file in testdata.
func golden(t *testing.T, name string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", name, b.Bytes())
	}
}

// allFields is a form with every rule.
func allFields() askdata.Fields {
	zero, ten, quarter := 0.0, 10.0, 0.25
	return askdata.Fields{
		{Name: "name", Type: "string", Title: "Your name", Description: "As on the badge.", Required: true, MinLength: 1, MaxLength: 40, Default: json.RawMessage(`"Ada"`)},
		{Name: "airport", Type: "string", Description: "Where from.", Pattern: "^[A-Z]{3}$", PatternHint: "must be three capital letters"},
		{Name: "code", Type: "string", Pattern: `^\d+$`},
		{Name: "mail", Type: "string", Format: "email"},
		{Name: "site", Type: "string", Format: "uri"},
		{Name: "notes", Type: "string", Format: askdata.FormatLong},
		{Name: "secret", Type: "string", Format: askdata.FormatSecret},
		{Name: "clock", Type: "string", Format: askdata.FormatTime, Pattern: askdata.TimePattern},
		{Name: "day", Type: "string", Format: "date", Earliest: "2026-05-01", Latest: "2026-05-31"},
		{Name: "at", Type: "string", Format: "date-time", Description: "When?", Earliest: "2026-05-01T00:00:00Z"},
		{Name: "share", Type: "number", Minimum: &zero, Maximum: &ten, Step: &quarter, Description: "How much"},
		{Name: "count", Type: "integer", Minimum: &zero},
		{Name: "sure", Type: "boolean", Default: json.RawMessage("true")},
		{Name: "pick", Type: "string", Choices: askdata.Choices("a", "b"), MaxLength: 1, Pattern: "^a"},
		{Name: "titled", Type: "string", Required: true, Choices: []askdata.Choice{{Value: "d", Title: "Development"}, {Value: "p"}}},
		{Name: "many", Type: "array", Choices: askdata.Choices("a", "b", "c"), MinItems: 1, MaxItems: 2},
		{Name: "titles", Type: "array", Choices: []askdata.Choice{{Value: "r", Title: "Red"}, {Value: "g", Title: "Green"}}, Default: json.RawMessage(`["g"]`)},
	}
}
