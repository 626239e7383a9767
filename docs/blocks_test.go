package docs_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/users"
)

// A block is a block of code of a document.
type block struct{ file, language, text string }

// uncheckedBlocks are the blocks that no test reads, by their beginnings, and why.
var uncheckedBlocks = map[string]string{
	"# caddy":                              "Caddy's configuration; that of docs/recipes is run",
	"# nginx":                              "nginx's configuration; that of docs/recipes is run",
	"scrape_configs:":                      "Prometheus's configuration",
	"groups:\n  - name: beam":              "Prometheus's configuration",
	"const beam = await createMCPClient":   "needs a model; interop/frameworks.js makes these calls",
	"npx @modelcontextprotocol/inspector ": "mixes beam's arguments with its own; interop/inspector.js runs it",
	`{ printf '%s.%s.' "$id"`:              "cmd/beam/webhook_test.go runs it",
}

// compiled are the files that Go blocks are part of, and outputs of Go code.
var compiled = []string{"snippets_test.go", "../examples/hello/main.go", "../beamtest/guide_test.go", "../beamtest/example_test.go", "../internal/scaffold/files/*.go.txt"}

// checks are the tests of blocks, by language.
var checks = map[string]func(*testing.T, block){
	"go": checkCompiled, "": checkCompiled, "json": checkJSON, "sh": checkShell, "console": checkConsole,
	"mermaid": checkStates,
}

// Every block of code is compiled, parsed or run.
func TestCodeBlocks(t *testing.T) {
	unused := map[string]bool{}
	for beginning := range uncheckedBlocks {
		unused[beginning] = true
	}
	for _, b := range blocks(t) {
		t.Run(b.file+"/"+firstLine(b.text), func(t *testing.T) {
			for beginning := range uncheckedBlocks {
				if strings.HasPrefix(b.text, beginning) {
					delete(unused, beginning)
					return
				}
			}
			check := checks[b.language]
			if check == nil {
				t.Fatalf("nothing checks code in the language %q", b.language)
			}
			check(t, b)
		})
	}
	for beginning := range unused {
		t.Errorf("no block begins with %q", beginning)
	}
}

var fenced = regexp.MustCompile("(?ms)^( *)```([a-z]*)\n(.*?)^ *```$")

// folder is that of the documents.
var folder = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

// blocks returns the blocks of the documents and of the README.
func blocks(t *testing.T) (all []block) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(folder), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../README.md") {
		for _, m := range fenced.FindAllStringSubmatch(read(t, file), -1) {
			all = append(all, block{strings.TrimPrefix(file, "../"), m[2], m[3]})
		}
	}
	if len(all) < 50 {
		t.Fatalf("there are only %d blocks", len(all))
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), 40)]
}

// checkCompiled checks that a block is part of a file that is compiled. A line of "…" in it
// stands for other lines.
func checkCompiled(t *testing.T, b block) {
	parts := strings.Split(unindent(b.text), "\n…\n")
	for _, pattern := range compiled {
		files, err := fs.Glob(os.DirFS(filepath.Dir(folder)), filepath.ToSlash(filepath.Join("docs", pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if containsAll(unindent(read(t, "../"+file)), parts) {
				return
			}
		}
	}
	t.Errorf("%s: no file among %q has this code:\n%s", b.file, compiled, b.text)
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, strings.Trim(part, "\n")) {
			return false
		}
	}
	return true
}

var indent = regexp.MustCompile(`(?m)^[\t ]*(?://[\t ]*)?`)

// unindent removes indentation, and what makes a line a comment.
func unindent(code string) string { return indent.ReplaceAllString(code, "") }

// checkJSON reads a block as what it is an example of.
func checkJSON(t *testing.T, b block) {
	for _, key := range []string{"OPENAI_API_KEY", "VLLM_API_KEY"} {
		t.Setenv(key, "key")
	}
	var err error
	switch text := strings.ReplaceAll(b.text, `"sha256": "…"`, `"sha256": "`+strings.Repeat("0", 64)+`"`); {
	case strings.Contains(text, `"models"`):
		_, err = llm.Parse([]byte(text))
	case strings.Contains(text, `"endpoint"`):
		_, err = llm.Parse([]byte(`{"models": [` + text + `]}`))
	case strings.Contains(text, `"users"`):
		_, err = users.Parse([]byte(text))
	case strings.Contains(text, `ervers"`):
		file := filepath.Join(t.TempDir(), "servers.json")
		if err = os.WriteFile(file, []byte(text), 0o600); err == nil {
			var servers []config.Server
			servers, err = config.Load(file)
			for _, s := range servers {
				err = errors.Join(err, checkBeam(s.Args))
			}
		}
	case !json.Valid([]byte(text)):
		err = errors.New("it isn't JSON")
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", b.file, err, b.text)
	}
}
