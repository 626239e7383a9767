package houserules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kindSwitches has the packages that still switch on kinds of entries, events or questions,
// and how many such switches they have. A new kind can be forgotten there, unnoticed; a
// visitor or a table can't forget it. The list only shrinks.
var kindSwitches = map[string]int{
	"beamtest": 4, "internal/engine": 2,
}

// visitorFiles are the files in which kinds are told apart for all visitors.
var visitorFiles = []string{"internal/runlog/event_visitor.go"}

// TestKindsAreVisited checks that kinds are told apart by visitors and tables only.
func TestKindsAreVisited(t *testing.T) {
	found := make(map[string]int)
	eachGoFile(t, func(path string) {
		if slices.Contains(visitorFiles, path) {
			return
		}
		if n := countKindSwitches(t, path); n > 0 {
			found[filepath.ToSlash(filepath.Dir(path))] += n
		}
	})
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if found[dir] > kindSwitches[dir] {
			t.Errorf("%s has %d switches on kinds; %d are known: use a visitor or a table with all kinds", dir, found[dir], kindSwitches[dir])
		}
	}
	for dir, n := range kindSwitches {
		if found[dir] < n {
			t.Errorf("%s has only %d switches on kinds: lower its number in kindSwitches", dir, found[dir])
		}
	}
}

// eachGoFile calls each with every Go file that isn't generated or a test.
func eachGoFile(t *testing.T, each func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, "_templ.go"):
			path, err = filepath.Rel(root, path)
			each(filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// kindName matches the names of kinds, and of the types of events.
var kindName = regexp.MustCompile(`^(askdata|runlog)\.Kind[A-Z]|^generators\.([A-Z][a-z]+Event|Artifact|Stepped|Result)$|^driver\.Call$`)

// countKindSwitches returns how many switches of a file tell two kinds or more apart.
func countKindSwitches(t *testing.T, path string) (n int) {
	ast.Inspect(parseFile(t, path), func(node ast.Node) bool {
		var body *ast.BlockStmt
		switch s := node.(type) {
		case *ast.SwitchStmt:
			body = s.Body
		case *ast.TypeSwitchStmt:
			body = s.Body
		default:
			return true
		}
		kinds := make(map[string]bool)
		for _, clause := range body.List {
			for _, expr := range clause.(*ast.CaseClause).List {
				addKinds(expr, kinds)
			}
		}
		if len(kinds) > 1 {
			n++
		}
		return true
	})
	return n
}

// addKinds adds the kinds that an expression names.
func addKinds(expr ast.Expr, kinds map[string]bool) {
	ast.Inspect(expr, func(node ast.Node) bool {
		if s, ok := node.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && kindName.MatchString(x.Name+"."+s.Sel.Name) {
				kinds[s.Sel.Name] = true
			}
		}
		return true
	})
}
