package atomicfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "keys")
	for _, content := range []string{"long, at first", "short"} {
		if err := atomicfile.Write(file, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != content {
			t.Errorf("it holds %q, want %q; %v", got, content, err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, want 0600; %v", info.Mode(), err)
	}
	// A folder can't be replaced by a file. The temporary file is removed.
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(taken, nil); err == nil {
		t.Error("a folder is replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v are left; %v", left, err)
	}
}

// Sweep removes incomplete files, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"keys", "keys.partial-12", "partial"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.partial-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	var names []string
	left, err := os.ReadDir(dir)
	for _, e := range left {
		names = append(names, e.Name())
	}
	if want := []string{"folder.partial-1", "keys", "partial"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q is left, want %q; %v", names, want, err)
	}
	if err := atomicfile.Sweep(filepath.Join(dir, "none")); err != nil {
		t.Errorf("sweeping a folder that doesn't exist: %v", err)
	}
}

func TestMakeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := atomicfile.MakeDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s has the mode %v; %v", d, info.Mode(), err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if err := atomicfile.MakeDir(path); err == nil {
			t.Errorf("%s is a folder", path)
		}
	}
}
