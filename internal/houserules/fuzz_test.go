package houserules

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// Every fuzz target has inputs in testdata, so that go test runs them, and whoever fuzzes begins
// with what was found before.
func TestFuzzTargetsHaveCorpora(t *testing.T) {
	targets := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			targets++
			corpus := filepath.Join(filepath.Dir(path), "testdata", "fuzz", string(m[1]))
			if files, err := os.ReadDir(corpus); err != nil || len(files) == 0 {
				t.Errorf("%s: %s has no inputs in %s", path, m[1], corpus)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if targets < 20 {
		t.Errorf("found %d fuzz targets, want at least 20", targets)
	}
}
