package houserules

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A measure counts something that is to stay small.
type measure struct {
	name  string
	limit int
	what  string
}

// measures don't count tests and generated code.
var measures = []measure{
	{"lines", 400, "a file that is longer has more than one subject"},
	{"files", 25, "a package of more files has more than one purpose"},
	{"methods", 40, "a type of more methods has more than one job"},
	{"method-files", 8, "a type whose methods are in more files can't be read as a whole"},
}

// ceilingsFile has a line for each file, package and type above a limit: the measure, the name
// and what it may have at most.
const ceilingsFile = "testdata/ceilings.txt"

// A counted thing is what a measure counts.
type counted struct{ measure, name string }

// Nothing grows above the limits, and what was above them when they were set only shrinks.
func TestSizes(t *testing.T) {
	ceilings := readCeilings(t)
	counts := countSources(t)
	lowered := make(map[counted]int)
	for c, n := range counts {
		m := measures[slices.IndexFunc(measures, func(m measure) bool { return m.name == c.measure })]
		ceiling, listed := ceilings[c]
		switch {
		case !listed && n > m.limit:
			t.Errorf("%s has %d %s, want at most %d: %s", c.name, n, c.measure, m.limit, m.what)
		case listed && n > ceiling:
			t.Errorf("%s has %d %s, want at most the %d of %s, which may only shrink", c.name, n, c.measure, ceiling, ceilingsFile)
		case listed && n > m.limit:
			lowered[c] = n
		}
	}
	if maps.Equal(ceilings, lowered) || t.Failed() {
		return
	}
	if !*update {
		t.Errorf("some of %s have shrunk: go test ./internal/houserules -update", ceilingsFile)
		return
	}
	writeCeilings(t, lowered)
}

func readCeilings(t *testing.T) map[counted]int {
	t.Helper()
	raw, err := os.ReadFile(ceilingsFile)
	if err != nil {
		t.Fatal(err)
	}
	ceilings := make(map[counted]int)
	for line := range strings.Lines(string(raw)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			t.Fatalf("%s: can't read %q", ceilingsFile, line)
		}
		n, err := strconv.Atoi(words[2])
		if err != nil {
			t.Fatalf("%s: %v", ceilingsFile, err)
		}
		ceilings[counted{words[0], words[1]}] = n
	}
	return ceilings
}

func writeCeilings(t *testing.T, ceilings map[counted]int) {
	t.Helper()
	var b strings.Builder
	order := slices.SortedFunc(maps.Keys(ceilings), func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.measure, b.measure), cmp.Compare(a.name, b.name))
	})
	for _, c := range order {
		fmt.Fprintln(&b, c.measure, c.name, ceilings[c])
	}
	if err := os.WriteFile(ceilingsFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// countSources measures files, packages and types.
func countSources(t *testing.T) map[counted]int {
	t.Helper()
	counts := make(map[counted]int)
	methods := make(map[string]map[string]bool) // names of methods, by type
	spread := make(map[string]map[string]bool)  // files, by type
	add := func(sets map[string]map[string]bool, key, value string) {
		if sets[key] == nil {
			sets[key] = make(map[string]bool)
		}
		sets[key][value] = true
	}
	for _, file := range sourceFiles(t) {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(parsed) {
			continue
		}
		counts[counted{"lines", file}] = strings.Count(string(source), "\n")
		counts[counted{"files", path.Dir(file)}]++
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				name := path.Dir(file) + "." + receiverName(f.Recv.List[0].Type)
				add(methods, name, f.Name.Name)
				add(spread, name, file)
			}
		}
	}
	for name := range methods {
		counts[counted{"methods", name}] = len(methods[name])
		counts[counted{"method-files", name}] = len(spread[name])
	}
	return counts
}

// receiverName returns the name of a method's type, without its pointer and type parameters.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
