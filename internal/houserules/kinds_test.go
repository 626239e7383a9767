package houserules

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
)

// The documentation says of every kind of event and question how to use it and how
// it reaches a client.
func TestDocsNameEveryKind(t *testing.T) {
	var questions, events []string
	for _, k := range askdata.Kinds() {
		questions = append(questions, string(k))
	}
	for _, k := range driver.Kinds() {
		if k != "stepped" && k != "result" { // the engine records these
			events = append(events, k)
		}
	}
	checkNamed(t, "docs/questions.md", questions)
	checkNamed(t, "docs/photons.md", events)
	checkNamed(t, "docs/mcp.md", questions)
	checkNamed(t, "docs/mcp.md", events)
	checkNamed(t, "docs/http.md", events)
}

// checkNamed fails the test for each kind that a document doesn't name as a word.
func checkNamed(t *testing.T, path string, kinds []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		if !regexp.MustCompile(`(?i)\b` + kind + `\b`).Match(text) {
			t.Errorf("%s does not name the kind %q", path, kind)
		}
	}
}
