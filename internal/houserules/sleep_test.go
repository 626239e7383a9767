// Package houserules tests the repository's own rules.
package houserules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// A test that sleeps is slow, and fails on a slower machine. Tests wait for an
// event, or run in a synctest bubble, where time is simulated. Any other sleep
// needs a comment with its reason, on its line or the line before.
func TestSleepsHaveReasons(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			checkSleeps(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkSleeps reports the sleeps in a file that have no reason.
func checkSleeps(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	commented := make(map[int]bool) // lines
	for _, group := range file.Comments {
		for line := files.Position(group.Pos()).Line; line <= files.Position(group.End()).Line; line++ {
			commented[line] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if at := files.Position(call.Pos()); isCallTo(call, "time", "Sleep") && !commented[at.Line] && !commented[at.Line-1] {
			t.Errorf("%s: a sleep outside a synctest bubble: wait for what is to happen, or say why that can't be", at)
		}
		return !entersBubble(call)
	})
}

// entersBubble reports whether the function literals in a call's arguments run
// in a bubble: the call is to synctest.Test or to one of the helpers listed
// here.
func entersBubble(call *ast.CallExpr) bool {
	helper, ok := call.Fun.(*ast.Ident)
	return isCallTo(call, "synctest", "Test") || ok && (strings.HasSuffix(helper.Name, "WithFakeClock"))
}

// isCallTo reports whether a call is to a function of a package.
func isCallTo(call *ast.CallExpr, pkg, function string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != function {
		return false
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == pkg
}
