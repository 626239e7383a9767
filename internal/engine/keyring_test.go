package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSealedSecretOutlivesProcessButNotRun(t *testing.T) {
	dir := t.TempDir() + "/keys"
	before := &keyring{dir: dir}
	sealed, err := before.seal("run", []byte("swordfish"))
	if err != nil {
		t.Fatal(err)
	}
	after := &keyring{dir: dir}
	if text, err := after.unseal("run", sealed); err != nil || string(text) != "swordfish" {
		t.Errorf("after a restart the secret is %q, %v", text, err)
	}
	if _, err := after.unseal("other", sealed); !errors.Is(err, errNoKey) {
		t.Errorf("another run opens it: %v", err)
	}
	if info, err := os.Stat(dir + "/run"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v; want it readable by its owner alone", info, err)
	}
	if err := after.deleteKey("run"); err != nil {
		t.Fatal(err)
	}
	if _, err := (&keyring{dir: dir}).unseal("run", sealed); !errors.Is(err, errNoKey) {
		t.Errorf("the secret can be read when its run has ended: %v", err)
	}
}

// A key is durable before what it seals is recorded: a file's content and its
// name in the folder.
func TestKeyFileNameIsSynced(t *testing.T) {
	var synced []string
	real := syncDir
	defer func() { syncDir = real }()
	dir := t.TempDir() + "/keys"
	syncDir = func(folder string) error {
		if folder == dir {
			if _, err := os.Stat(dir + "/run"); err != nil {
				t.Error("the folder is written before the key:", err)
			}
		}
		synced = append(synced, folder)
		return real(folder)
	}
	if _, err := (&keyring{dir: dir}).seal("run", []byte("swordfish")); err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Dir(dir), dir}; !slices.Equal(synced, want) {
		t.Errorf("written: %v, want %v", synced, want)
	}
	broken := errors.New("the disk is broken")
	syncDir = func(string) error { return broken }
	if _, err := (&keyring{dir: dir}).seal("other", []byte("swordfish")); !errors.Is(err, broken) {
		t.Errorf("a key that may vanish: %v", err)
	}
}
