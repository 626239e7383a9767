package datastar

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopyDropsTheSourceMap(t *testing.T) {
	const bundle = "let a=1;\n//# sourceMappingURL=a.js.map\n"
	source, folder := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(source, "a.js"), bundle)

	p := pinnedFile{"a.js", "b.js", digest(bundle)}
	if err := p.copy(source, folder); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, "b.js"))
	if err != nil || string(got) != "let a=1;\n" {
		t.Errorf("b.js holds %q, %v", got, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v, and should hold b.js alone", entries, err)
	}
}

func TestCopyRefusesAnotherDigest(t *testing.T) {
	source, folder := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(source, "a.js"), "let evil=1;\n")

	err := pinnedFile{"a.js", "b.js", digest("let a=1;\n")}.copy(source, folder)
	if err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("the error is %v, and should name the digests", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "b.js")); err == nil {
		t.Error("b.js was written all the same")
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func readFile(t *testing.T, folder, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
