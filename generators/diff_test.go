package generators_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/photon-beam/beam/generators"
)

func diff(before, after string) string {
	return string(generators.Diff("d", before, after).(*generators.Artifact).Body)
}

func TestDiff(t *testing.T) {
	numbered := func(skip int) string {
		var b strings.Builder
		for i := 1; i <= 30; i++ {
			if i != skip {
				fmt.Fprintln(&b, i)
			}
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ before, after, want string }{
		"equal":       {"a\n", "a\n", "No line differs.\n"},
		"both empty":  {"", "", "No line differs.\n"},
		"all added":   {"", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"all removed": {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		"changed":     {"a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"line feed":   {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"context":     {numbered(0), numbered(15), "@@ -12,7 +12,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n"},
		"two hunks":   {"x\n" + numbered(0), numbered(30), "@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -28,4 +27,3 @@\n 27\n 28\n 29\n-30\n"},
	} {
		if got := diff(tt.before, tt.after); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
	a := generators.Diff("Plan", "a", "b").(*generators.Artifact)
	if a.Title != "Plan" || a.MediaType != "text/x-diff" || a.Size != int64(len(a.Body)) {
		t.Errorf("got %+v", a)
	}
}

// Texts that are too long to compare become one change.
func TestDiffOfLongTexts(t *testing.T) {
	got := diff("same\n"+strings.Repeat("a\nb\n", 2000), "same\n"+strings.Repeat("b\nc\n", 2000))
	if !strings.HasPrefix(got, "@@ -1,4001 +1,4001 @@\n same\n-a\n-b\n") || strings.Count(got, "\n") != 8002 {
		t.Errorf("got %.200s", got)
	}
}

// Applying a diff to the first text makes the second.
func TestDiffsCanBeApplied(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("patch(1) is not installed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(string(rune('a'+r.IntN(4))) + "\n")
		}
		return b.String()
	}
	dir := t.TempDir()
	for range 50 {
		before, after := text(), text()
		d := diff(before, after)
		if before == after {
			continue
		}
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "-s", file)
		cmd.Stdin = strings.NewReader(d)
		out, err := cmd.CombinedOutput()
		got, _ := os.ReadFile(file) // it may be gone if it is empty
		if err != nil || string(got) != after {
			t.Fatalf("%q to %q: %v %s, got %q from\n%s", before, after, err, out, got, d)
		}
	}
}
