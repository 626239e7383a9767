package houserules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/photon-beam/beam"

// Imports follow the table of layers. None points upward.
func TestImports(t *testing.T) {
	checkTable(t)
	used := make(map[[2]string]bool) // by the names of both layers
	excepted := make(map[exception]bool)
	for folder, imports := range importsByFolder(t) {
		for _, imported := range imports {
			to, isOurs := strings.CutPrefix(imported, module)
			if !isOurs {
				checkLibrary(t, folder, imported)
				continue
			}
			to = path.Clean(strings.TrimPrefix(to, "/"))
			if i := slices.IndexFunc(exceptions, func(e exception) bool { return e.from == folder && e.to == to }); i >= 0 {
				excepted[exceptions[i]] = true
				continue
			}
			checkImport(t, folder, to, used)
		}
	}
	for _, e := range exceptions {
		if !excepted[e] {
			t.Errorf("%s no longer imports %s: remove the exception (%s)", e.from, e.to, e.why)
		}
	}
	for _, l := range layers {
		for _, a := range l.imports {
			if !used[[2]string{l.name, a.to}] {
				t.Errorf("the layer %q no longer imports %q: remove it from the table", l.name, a.to)
			}
		}
	}
}

// checkTable checks that each layer names only layers below it, with reasons.
func checkTable(t *testing.T) {
	t.Helper()
	for i, l := range layers {
		for _, a := range l.imports {
			below := slices.ContainsFunc(layers[i+1:], func(l layer) bool { return l.name == a.to })
			if !below {
				t.Errorf("the layer %q may import %q, which is no layer below it", l.name, a.to)
			}
			if a.why == "" {
				t.Errorf("there is no reason why %q may import %q", l.name, a.to)
			}
		}
	}
}

// checkImport checks an import of one of our packages by another, and marks it as used.
func checkImport(t *testing.T, from, to string, used map[[2]string]bool) {
	t.Helper()
	source, target := layerOf(from), layerOf(to)
	switch {
	case source == "" || target == "":
		t.Errorf("%s imports %s: add both to the table of layers", from, to)
	case source == inTests || source == target:
	case target == inTests:
		t.Errorf("%s imports %s, which is only for tests", from, to)
	case target == isHelper:
	case source == isHelper:
		t.Errorf("the helper %s imports %s, which is no helper", from, to)
	default:
		used[[2]string{source, target}] = true
		l := layers[slices.IndexFunc(layers, func(l layer) bool { return l.name == source })]
		if !slices.ContainsFunc(l.imports, func(a arrow) bool { return a.to == target }) {
			t.Errorf("%s (%s) imports %s (%s): %s", from, source, to, target, explainImport(source, target))
		}
	}
}

// explainImport says why a layer may not import another.
func explainImport(from, to string) string {
	position := func(name string) int {
		return slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
	}
	if position(to) < position(from) {
		return "that points upward"
	}
	return "the table of layers doesn't allow it"
}

// checkLibrary checks an import of a package that isn't ours.
func checkLibrary(t *testing.T, folder, imported string) {
	t.Helper()
	if layerOf(folder) == inTests {
		return
	}
	matches := func(patterns []string) bool { return longestMatch(patterns, folder) > 0 }
	for _, r := range restrictions {
		if imported != r.library && !strings.HasPrefix(imported, r.library+"/") {
			continue
		}
		if r.only != nil && !matches(r.only) || matches(r.never) {
			t.Errorf("%s imports %s: %s", folder, imported, r.why)
		}
	}
}

// The layers of packages that stand in no layer of the table.
const (
	inTests  = "tests"
	isHelper = "helpers"
)

// layerOf returns the layer that names a folder most exactly, or "".
func layerOf(folder string) string {
	best, found := 0, ""
	consider := func(name string, patterns []string) {
		if n := longestMatch(patterns, folder); n > best {
			best, found = n, name
		}
	}
	consider(inTests, testPackages)
	consider(isHelper, helpers)
	for _, l := range layers {
		consider(l.name, l.packages)
	}
	return found
}

// longestMatch returns the length of the longest pattern that matches a folder, or 0. A folder
// named in full is one longer than a pattern.
func longestMatch(patterns []string, folder string) (longest int) {
	for _, p := range patterns {
		prefix, below := strings.CutSuffix(p, "/...")
		switch {
		case p == folder:
			longest = max(longest, len(p)+1)
		case below && (folder == prefix || strings.HasPrefix(folder, prefix+"/")):
			longest = max(longest, len(prefix))
		}
	}
	return longest
}

// importsByFolder returns what the packages of the module import, except in their tests, by
// folders with slashes.
func importsByFolder(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string]map[string]bool)
	for _, file := range sourceFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(file)
		if found[folder] == nil {
			found[folder] = make(map[string]bool)
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[folder][imported] = true
		}
	}
	imports := make(map[string][]string)
	for folder, set := range found {
		imports[folder] = slices.Sorted(maps.Keys(set))
	}
	return imports
}

// sourceFiles returns the paths of Go files that are not tests, from the root, with slashes.
func sourceFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go"):
			file, err := filepath.Rel(root, file)
			files = append(files, filepath.ToSlash(file))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
