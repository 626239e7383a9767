// Package houserules holds the repository's own rules as tests.
package houserules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// A test that sleeps is slow, and fails on a machine that is slower. Tests wait
// for what is to happen, or run in a synctest bubble, where time takes none. A
// sleep elsewhere says why it is there, in a comment on its line or the one
// before.
func TestSleepsHaveReasons(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
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

// checkSleeps reports the sleeps of a file that have no reason.
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

// entersBubble reports whether the functions that a call is given run in a
// bubble: it is to synctest, or to one of the helpers named here.
func entersBubble(call *ast.CallExpr) bool {
	helper, ok := call.Fun.(*ast.Ident)
	return isCallTo(call, "synctest", "Test") || ok && (strings.HasSuffix(helper.Name, "WithFakeClock"))
}

// calls reports whether a call is to a package's function.
func isCallTo(call *ast.CallExpr, pkg, function string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != function {
		return false
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == pkg
}
