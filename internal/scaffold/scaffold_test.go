package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The module builds, and its tests pass.
func TestModulePasses(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "greet_people")
	names, err := Module{Name: "greet_people", Source: source}.Write(folder)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{".gitignore", "README.md", "main.go", "greet_people.go", "greet_people_test.go"}; !slices.Equal(names, want) {
		t.Errorf("wrote %q, want %q", names, want)
	}
	sums, err := os.ReadFile(filepath.Join(source, "go.sum")) // go mod tidy would fetch tests' dependencies, too
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"test", "./..."}} { // which also vets
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = folder, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "gofmt", "-l", folder).Output(); err != nil || len(out) > 0 {
		t.Errorf("gofmt: %v, %s", err, out)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, name := range []string{"", "Greet", "1st", "go", "a-b", "../x", "x_test", strings.Repeat("x", 41)} {
		if _, err := (Module{Name: name}).Write(filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "use lower-case letters") {
			t.Errorf("%q: %v", name, err)
		}
	}
	folder := t.TempDir()
	kept := filepath.Join(folder, "kept")
	if err := os.WriteFile(kept, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (Module{Name: "greet"}).Write(folder); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error("it deleted what was there")
	}
}

func TestGoMod(t *testing.T) {
	for want, m := range map[string]Module{
		"require github.com/photon-beam/beam v1.2.3\n":          {Name: "a", Version: "v1.2.3"},
		"replace github.com/photon-beam/beam => \"/my beam\"\n": {Name: "a", Source: "/my beam"},
		"module a\n\ngo 1.26\n":                                 {Name: "a"},
	} {
		if got := m.goMod(); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q at its end", got, want)
		}
	}
}
