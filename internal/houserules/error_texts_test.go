package houserules

import (
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// errorTexts has the packages that look into the text of errors, and why each does. A text is
// for people; a program tells errors apart by errors.Is, by errors.As, or by a rule.
var errorTexts = map[string]string{
	"generators":            "jsonschema-go has no value for a type that contains itself",
	"internal/diskspace":    "drivers of databases don't wrap the errors of the system",
	"internal/mcp/message":  "a log keeps the text of an error alone",
	"internal/runlog":       "a log keeps the text of an error alone",
	"internal/store/sqlite": "database/sql has no value for a column of another type",
}

// TestErrorsAreToldApartByValue checks that nothing looks into the text of an error.
func TestErrorsAreToldApartByValue(t *testing.T) {
	found := make(map[string]bool)
	eachGoFile(t, func(path string) {
		ast.Inspect(parseFile(t, path), func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && looksIntoError(call) {
				found[filepath.ToSlash(filepath.Dir(path))] = true
			}
			return true
		})
	})
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if errorTexts[dir] == "" {
			t.Errorf("%s looks into the text of an error: give the error a type, or a value to compare", dir)
		}
	}
	for dir := range errorTexts {
		if !found[dir] {
			t.Errorf("%s looks into no error's text any more: remove it from errorTexts", dir)
		}
	}
}

// looksIntoError reports whether a call of package strings searches the text of an error, or
// another text for it.
func looksIntoError(call *ast.CallExpr) bool {
	searches := []string{"Contains", "HasPrefix", "HasSuffix", "CutPrefix", "CutSuffix", "Index", "Cut"}
	if !slices.ContainsFunc(searches, func(name string) bool { return isCallTo(call, "strings", name) }) {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		text, ok := arg.(*ast.CallExpr)
		if !ok {
			return false
		}
		method, ok := text.Fun.(*ast.SelectorExpr)
		return ok && method.Sel.Name == "Error"
	})
}
