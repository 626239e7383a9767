package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root = "../.."
	beam = "github.com/photon-beam/beam"
)

func TestListIsUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.txt")
	if err := run(root, path); err != nil {
		t.Fatal(err)
	}
	if readFile(t, path) != readFile(t, filepath.Join(root, "api.txt")) {
		t.Error("api.txt is stale: run go generate ./internal/apilist, and read what changed before you commit it")
	}
}

// Each name is used by a photon that Beam ships, by an example, or by the conformance
// fixture, or is a type of such a name. The names that only Beam's own packages share
// are in testdata/shared.txt.
func TestEveryNameIsUsed(t *testing.T) {
	names, err := listAPI(root)
	if err != nil {
		t.Fatal(err)
	}
	used, err := usedNames(root, authorFiles, ".", "./ask", "./beamtest", "./generators/...", "./examples/...", "./internal/systemtest/fixture/...")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if used[n.id] {
			for _, id := range n.mentions {
				used[id] = true
			}
		}
	}
	shared := sharedNames(t)
	for _, n := range names {
		id := n.id[strings.LastIndex(n.id, "/")+1:]
		isUsed := used[n.id] || callsByInterface[id[strings.LastIndex(id, ".")+1:]]
		switch {
		case isUsed && shared[id]:
			t.Errorf("%s is used by authors: remove it from testdata/shared.txt", id)
		case !isUsed && !shared[id]:
			t.Errorf("%s is used by no photon, example or fixture: write an example, or unexport it", id)
		}
		delete(shared, id)
	}
	for id := range shared {
		t.Errorf("%s doesn't exist: remove it from testdata/shared.txt", id)
	}
}

// callsByInterface has the methods that only the standard library calls.
var callsByInterface = map[string]bool{"Error": true, "MarshalJSON": true, "UnmarshalJSON": true}

// authorFiles returns the files of a package that are written as an author of photons
// would write them: photons and their tests, examples, and the fixture.
func authorFiles(p listedPackage) [][]string {
	path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, beam), "/")
	switch {
	case strings.HasPrefix(path, "generators/internal/"):
		return nil
	case strings.HasPrefix(path, "generators/"):
		return nonEmpty(slices.Concat(p.GoFiles, p.TestGoFiles), p.XTestGoFiles)
	case strings.HasPrefix(path, "examples/"), strings.HasPrefix(path, "internal/"):
		return nonEmpty(p.GoFiles)
	}
	return nonEmpty(slices.DeleteFunc(slices.Clone(p.XTestGoFiles), func(name string) bool { return !strings.HasPrefix(name, "example_") && name != "guide_test.go" }))
}

func nonEmpty(groups ...[]string) [][]string {
	return slices.DeleteFunc(groups, func(g []string) bool { return len(g) == 0 })
}

// sharedNames returns the names in testdata/shared.txt.
func sharedNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for line := range strings.Lines(readFile(t, filepath.Join("testdata", "shared.txt"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names[line] = true
		}
	}
	return names
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
