package houserules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxProse is how many characters a line of prose has at most, so that a change of a sentence is
// a change of few lines. Tables and code have lines of any length.
const maxProse = 120

// notWrapped are documents whose lines are still longer.
var notWrapped = map[string]bool{"CONTRIBUTING.md": true, "0034-one-store.md": true, "0036-small-state.md": true}

func TestLinesOfProse(t *testing.T) {
	for _, file := range documents(t) {
		if notWrapped[filepath.Base(file)] {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inCode := false
		for i, line := range strings.Split(string(text), "\n") {
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, "```") {
				inCode = !inCode
			}
			if inCode || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(line, "    ") || !strings.Contains(trimmed, " ") {
				continue
			}
			if n := utf8.RuneCountInString(line); n > maxProse {
				t.Errorf("%s:%d has %d characters, want at most %d", file, i+1, n, maxProse)
			}
		}
	}
}

// documents returns the paths of the documents but the changelog.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(found))
		}
		files = append(files, found...)
	}
	return files
}
