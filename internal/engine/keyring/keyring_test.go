package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestKeyOutlivesProcessUntilDeleted(t *testing.T) {
	dir := t.TempDir() + "/keys"
	before := New(dir)
	sealed, err := before.Seal("run", []byte("swordfish"))
	if err != nil {
		t.Fatal(err)
	}
	after := New(dir)
	if text, err := after.Unseal("run", sealed); err != nil || string(text) != "swordfish" {
		t.Errorf("after a restart, the secret is %q, %v", text, err)
	}
	if _, err := after.Unseal("other", sealed); !errors.Is(err, ErrNoKey) {
		t.Errorf("unsealing for another run: %v, want ErrNoKey", err)
	}
	if info, err := os.Stat(dir + "/run"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v; want one that only its owner can read", info, err)
	}
	if err := after.Delete("run"); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir).Unseal("run", sealed); !errors.Is(err, ErrNoKey) {
		t.Errorf("after its key was deleted, unsealing: %v, want ErrNoKey", err)
	}
}

// A key survives a crash once Seal has returned: both the content of its file and
// the name in the folder are synced.
func TestKeyFileNameIsSynced(t *testing.T) {
	var synced []string
	real := syncDir
	defer func() { syncDir = real }()
	dir := t.TempDir() + "/keys"
	syncDir = func(folder string) error {
		if folder == dir {
			if _, err := os.Stat(dir + "/run"); err != nil {
				t.Error("the folder was synced before the key was written:", err)
			}
		}
		synced = append(synced, folder)
		return real(folder)
	}
	if _, err := New(dir).Seal("run", []byte("swordfish")); err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Dir(dir), dir}; !slices.Equal(synced, want) {
		t.Errorf("synced %v, want %v", synced, want)
	}
	broken := errors.New("the disk is broken")
	syncDir = func(string) error { return broken }
	if _, err := New(dir).Seal("other", []byte("swordfish")); !errors.Is(err, broken) {
		t.Errorf("sealing when syncing fails: %v, want that error", err)
	}
}
