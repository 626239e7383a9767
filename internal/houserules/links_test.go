package houserules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	heading    = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Every link of the documents to a file, or to a heading of one, leads somewhere.
func TestLinks(t *testing.T) {
	links := 0
	for _, file := range append(documents(t), filepath.Join(root, "CHANGELOG.md")) {
		text := codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(readDocument(t, file), ""), "")
		for _, m := range linkTarget.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // an address elsewhere
			}
			links++
			to := file
			if target != "" {
				to = filepath.Join(filepath.Dir(file), filepath.FromSlash(target))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			} else if fragment != "" && !slices.Contains(headings(t, to), fragment) {
				t.Errorf("%s links to %s, a heading that doesn't exist", file, m[1])
			}
		}
	}
	if links < 200 {
		t.Errorf("found %d links, want at least 200", links)
	}
}

func readDocument(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// headings returns the fragments that lead to the headings of a document.
func headings(t *testing.T, file string) (fragments []string) {
	t.Helper()
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(readDocument(t, file), ""), -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		fragments = append(fragments, strings.ReplaceAll(slug, " ", "-"))
	}
	return fragments
}

// Decisions are numbered without holes, in the names of their files and in their titles.
func TestDecisionsAreNumbered(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "adr", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if number := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(filepath.Base(file), number) {
			t.Fatalf("the decision %d is in %s", i+1, file)
		}
		if title := fmt.Sprintf("# %d. ", i+1); !strings.HasPrefix(readDocument(t, file), title) {
			t.Errorf("%s doesn't begin with %q", file, title)
		}
	}
}
