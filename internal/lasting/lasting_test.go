package lasting_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/photon-beam/beam/internal/lasting"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "keys")
	for _, content := range []string{"long, at first", "short"} {
		if err := lasting.Write(file, []byte(content)); err != nil {
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
	// A folder can't be replaced by a file: it stays, and nothing else does.
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := lasting.Write(taken, nil); err == nil {
		t.Error("a folder is replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v are left; %v", left, err)
	}
}
