package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPackageName(t *testing.T) {
	t.Setenv("GOPACKAGE", "")
	folder := t.TempDir()
	if name, err := packageName(folder); err == nil {
		t.Errorf("a folder without Go files has the package %q", name)
	}
	writeFile(t, filepath.Join(folder, "a_test.go"), "package hello_test\n")
	writeFile(t, filepath.Join(folder, "b.go"), "// Package hello is it.\npackage hello\n")
	if name, err := packageName(folder); name != "hello" || err != nil {
		t.Errorf("the package is %q, %v", name, err)
	}
	t.Setenv("GOPACKAGE", "main")
	if name, err := packageName(folder); name != "main" || err != nil {
		t.Errorf("the package is %q, %v, and go generate says main", name, err)
	}
}

func TestWriteGoFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "datastar.go")
	for _, name := range []string{"main", "hello"} {
		if err := writeGoFile(folder, name); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(content), "\npackage "+name+"\n") {
			t.Errorf("datastar.go holds %s, %v", content, err)
		}
	}
	const own = "package main\n"
	writeFile(t, path, own)
	if err := writeGoFile(folder, "main"); err == nil || !strings.Contains(err.Error(), "is not generated") {
		t.Errorf("the error is %v", err)
	}
	if content, _ := os.ReadFile(path); string(content) != own {
		t.Errorf("a file that is not generated now holds %s", content)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
