package houserules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted       = regexp.MustCompile("`([^`]+)`")
	pathInQuotes = regexp.MustCompile(`^[A-Za-z0-9_./-]+/(?:[A-Za-z0-9_-]+\.[a-z]+)?$|^[A-Za-z0-9_-]+\.(?:md|go)$`)
)

// A newcomer opens the files that CONTRIBUTING.md names.
func TestContributingNamesExistingPaths(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	var paths int
	for line := range strings.Lines(string(text)) {
		first := "" // a row of the table names the folder once for several paths
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			path := m[1]
			if !pathInQuotes.MatchString(path) || strings.Contains(path, "NAME") {
				continue
			}
			paths++
			if first == "" {
				first = filepath.Clean(path)
			}
			if !exists(path) && !exists(filepath.Join(first, path)) && !exists(filepath.Join(filepath.Dir(first), path)) {
				t.Errorf("CONTRIBUTING.md names %s, which does not exist", path)
			}
		}
	}
	if paths < 50 {
		t.Errorf("found %d paths, want at least 50", paths)
	}
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}
