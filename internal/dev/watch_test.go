package dev

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// What the program is made of is watched wherever it is, and nothing else is.
func TestWatcher(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("program/go.mod", "module program\n\ngo 1.24\n\nrequire library v0.0.0\n\nreplace library => ../library\n")
	write("program/cmd/main.go", "package main\n\nimport (\n\t_ \"embed\"\n\t_ \"library/inner\"\n\t_ \"program/sibling\"\n)\n\n//go:embed text.md\nvar text string\n\nfunc main() {}\n")
	write("program/cmd/text.md", "text")
	write("program/sibling/sibling.go", "package sibling\n")
	write("library/go.mod", "module library\n\ngo 1.24\n")
	write("library/inner/inner.go", "package inner\n\nimport \"embed\"\n\n//go:embed pages all:hidden\nvar files embed.FS\n")
	write("library/inner/pages/deep/page.html", "page")
	write("library/inner/hidden/.hidden", "hidden")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")

	w := &watcher{folder: filepath.Join(root, "program", "cmd")}
	seen := w.look()
	found, err := listSources(t.Context(), w.folder)
	if err != nil {
		t.Fatal(err)
	}
	if w.learn(found, false, &seen) {
		t.Fatal("it has seen a change that there wasn't")
	}
	for _, name := range []string{
		"program/cmd/text.md", "program/cmd/new.go", "program/sibling/sibling.go", "program/sibling/new.go", "program/go.mod",
		"library/inner/inner.go", "library/inner/inner.s", "library/inner/pages/deep/page.html", "library/inner/pages/new/new.html",
		"library/inner/hidden/.new", "library/go.mod",
	} {
		write(name, "changed "+name)
		w.waitForChange(t.Context(), seen, false, nil)
		seen = w.look()
	}
	for _, name := range []string{
		"program/cmd/other.md", "program/cmd/main_test.go", "program/sibling/data.txt", "library/inner/pages/.swap", "library/unused/unused.go",
	} {
		write(name, "changed "+name)
		if !maps.Equal(w.look().files, seen.files) {
			t.Errorf("%s is watched", name)
		}
	}
}

// A file that is learned of after it has changed since the build began is a change.
func TestWatcherLearnsOfAChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text.md")
	w := &watcher{folder: t.TempDir()}
	seen := w.look()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	later := seen.began.Add(1)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	if !w.learn(sources{files: []string{file}}, false, &seen) {
		t.Error("the change isn't seen")
	}
}
