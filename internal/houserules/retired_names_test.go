package houserules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retiredWords are words that identifiers and file names used for things that MCP,
// Go or durable execution have a word for. The replacement is what to write
// instead.
var retiredWords = map[string]string{
	"agenda":     "timer queue",
	"bid":        "client request",
	"bids":       "client requests",
	"cool":       "evict",
	"crew":       "worker queue",
	"crowd":      "waiter count",
	"doubt":      "uncertain append",
	"doubtful":   "uncertain",
	"exchange":   "request context",
	"flight":     "in-flight",
	"heat":       "eviction",
	"helm":       "reader",
	"hot":        "resident",
	"joint":      "control socket",
	"june":       "20250618, the date of the version",
	"lack":       "missing capability",
	"lacks":      "missing capability",
	"lasting":    "atomic file",
	"patience":   "wait clock",
	"relay":      "proxy",
	"relays":     "proxies",
	"relayed":    "proxied",
	"standstill": "stalled writes",
	"teller":     "notifier",
	"vigil":      "timer",
}

// retiredFiles are words that said nothing about what is in a file.
var retiredFiles = map[string]string{
	"inuse":   "what the file does",
	"mine":    "private folder",
	"through": "what the file does",
	"tidy":    "what the file does",
	"words":   "humanize",
}

// retiredTypes are words that are fine in functions and variables, and were wrong
// as the name of a type.
var retiredTypes = map[string]string{
	"put":   "pending request",
	"room":  "disk space",
	"round": "multi-round-trip request",
}

// currentPhrases are standard terms that contain a retired word.
var currentPhrases = regexp.MustCompile(`(?i)in_?flight|round_?trip`)

// skippedFolders hold no code of ours. Other programs may write to them, and remove folders,
// while a test reads the tree.
var skippedFolders = []string{".git", "node_modules", "bin", "dist", "results", "screenshots", "vendor", "testdata"}

// A reader who knows MCP, Go and durable execution needs no glossary: names use
// the words of those fields.
func TestRetiredWords(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			return nil
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return filepath.SkipDir
		}
		checkFileName(t, path)
		if strings.HasSuffix(path, ".go") {
			checkIdentifiers(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkFileName reports a file or folder whose name has a retired word.
func checkFileName(t *testing.T, path string) {
	t.Helper()
	for _, retired := range []map[string]string{retiredWords, retiredFiles} {
		if word := findRetired(filepath.Base(path), retired); word != "" {
			t.Errorf("%s: the name says %q: say %q", path, word, retired[word])
		}
	}
}

// checkIdentifiers reports the names that a file declares with a retired word.
func checkIdentifiers(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	check := func(id *ast.Ident, retired map[string]string) {
		if word := findRetired(id.Name, retired); word != "" {
			t.Errorf("%s: %s says %q: say %q", files.Position(id.Pos()), id.Name, word, retired[word])
		}
	}
	check(file.Name, retiredWords)
	ast.Inspect(file, func(n ast.Node) bool {
		for _, id := range declaredNames(n) {
			check(id, retiredWords)
		}
		if s, ok := n.(*ast.TypeSpec); ok {
			check(s.Name, retiredTypes)
		}
		return true
	})
}

// declaredNames returns the identifiers that a node itself declares.
func declaredNames(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.LabeledStmt:
		return []*ast.Ident{n.Label}
	case *ast.ImportSpec:
		if n.Name != nil {
			return []*ast.Ident{n.Name}
		}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return identifiers(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			return identifiers(n.Key, n.Value)
		}
	}
	return nil
}

func identifiers(expressions ...ast.Expr) (ids []*ast.Ident) {
	for _, e := range expressions {
		if id, ok := e.(*ast.Ident); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// findRetired returns the first word of a name that is retired, or "".
func findRetired(name string, retired map[string]string) string {
	for _, word := range splitWords(currentPhrases.ReplaceAllString(name, "")) {
		if _, ok := retired[word]; ok {
			return word
		}
	}
	return ""
}

var (
	wordPattern     = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)
	initialsPattern = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// splitWords returns the words of an identifier or a file name, in lower case:
// camelCase is two words.
func splitWords(name string) []string {
	words := wordPattern.FindAllString(initialsPattern.ReplaceAllString(name, "$1 $2"), -1)
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return words
}

func TestSplitWords(t *testing.T) {
	for name, want := range map[string]string{
		"openBid":         "open bid",
		"forbid":          "forbid",
		"HTTPServer_test": "http server test",
		"wait-clock.go":   "wait clock go",
		"schema20250618":  "schema",
	} {
		if got := strings.Join(splitWords(name), " "); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"inFlight": "", "inFlightRequest": "", "roundTrip": "", "RoundTrip_test.go": "", "flights": "", "flight": "flight", "theBid": "bid", "joint.go": "joint"} {
		if got := findRetired(name, retiredWords); got != want {
			t.Errorf("%s has the retired word %q, want %q", name, got, want)
		}
	}
}
