package keyring

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/photon-beam/beam/internal/smallstate"
)

var keyEncryptionKey = bytes.Repeat([]byte{7}, keySize)

// storages are where keys are; each has a function that returns a keyring, and then others with
// the same keys.
var storages = map[string]func(t *testing.T) func() *Keyring{
	"folder": func(t *testing.T) func() *Keyring {
		dir := t.TempDir() + "/keys"
		return func() *Keyring { return New(dir) }
	},
	"memory": func(*testing.T) func() *Keyring {
		m := New("").keys
		return func() *Keyring { return &Keyring{keys: m} }
	},
	"small state": func(t *testing.T) func() *Keyring {
		s := smallstate.NewMemory()
		return func() *Keyring { return newShared(t, s) }
	},
}

func newShared(t *testing.T, s smallstate.Store) *Keyring {
	t.Helper()
	k, err := NewShared(t.Context(), s, keyEncryptionKey)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeyring(t *testing.T) {
	for name, test := range map[string]func(*testing.T, func() *Keyring){
		"key outlives process until deleted": testKeyOutlivesProcess,
		"deletion is paused":                 testPausedDeletion,
		"one key a run":                      testOneKey,
		"a key moves":                        testExport,
	} {
		for where, storage := range storages {
			t.Run(name+"/"+where, func(t *testing.T) { test(t, storage(t)) })
		}
	}
}

func seal(t *testing.T, k *Keyring, run string) []byte {
	t.Helper()
	sealed, err := k.Seal(run, []byte("swordfish"))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func testKeyOutlivesProcess(t *testing.T, open func() *Keyring) {
	before, after := open(), open()
	if ids, err := before.Runs(); len(ids) > 0 || err != nil || before.Has("run") {
		t.Errorf("there are keys of %v, %v", ids, err)
	}
	if err := before.Delete("run"); err != nil {
		t.Error("deleting a key that doesn't exist:", err)
	}
	sealed := seal(t, before, "run")
	seal(t, before, "other")
	if text, err := after.Unseal("run", sealed); err != nil || string(text) != "swordfish" {
		t.Errorf("after a restart, the secret is %q, %v", text, err)
	}
	if _, err := after.Unseal("third", sealed); !errors.Is(err, ErrNoKey) {
		t.Errorf("unsealing for another run: %v, want ErrNoKey", err)
	}
	if text, err := after.Unseal("other", sealed); err == nil {
		t.Errorf("another run's key has unsealed %q", text)
	}
	if err := after.Delete("run"); err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Keyring{before, after, open()} {
		if _, err := k.Unseal("run", sealed); !errors.Is(err, ErrNoKey) || k.Has("run") || !k.Has("other") {
			t.Errorf("after its key was deleted, unsealing: %v, want ErrNoKey", err)
		}
		if ids, err := k.Runs(); !slices.Equal(ids, []string{"other"}) || err != nil {
			t.Errorf("there are keys of %v, %v", ids, err)
		}
	}
}

func testPausedDeletion(t *testing.T, open func() *Keyring) {
	k := open()
	sealed := seal(t, k, "run")
	k.PauseDeletion()
	k.PauseDeletion()
	must(t, k.Delete("run"))
	must(t, k.ResumeDeletion())
	if text, err := open().Unseal("run", sealed); err != nil || string(text) != "swordfish" {
		t.Errorf("while deletion is paused, the secret is %q, %v", text, err)
	}
	must(t, k.ResumeDeletion())
	if _, err := open().Unseal("run", sealed); !errors.Is(err, ErrNoKey) {
		t.Errorf("afterwards, unsealing: %v, want ErrNoKey", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is sealed for a new run at once can all be unsealed.
func testOneKey(t *testing.T, open func() *Keyring) {
	one := open()
	all := []*Keyring{one, one, one, one}
	if _, ok := one.keys.(*folder); !ok { // one process has the folder
		all = append(all, open(), open(), open(), open())
	}
	sealed := make([][]byte, len(all))
	var sealing sync.WaitGroup
	for i, k := range all {
		sealing.Go(func() { sealed[i], _ = k.Seal("run", []byte("swordfish")) })
	}
	sealing.Wait()
	for i, s := range sealed {
		if text, err := open().Unseal("run", s); err != nil || string(text) != "swordfish" {
			t.Errorf("the secret that was sealed by %d is %q, %v", i, text, err)
		}
	}
}

func TestKeyFileIsPrivate(t *testing.T) {
	dir := t.TempDir() + "/keys"
	seal(t, New(dir), "run")
	if info, err := os.Stat(dir + "/run"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v; want one that only its owner can read", info, err)
	}
}

// Small state has keys only in wrapped form, and says if they were wrapped with another one.
func TestKeyEncryptionKey(t *testing.T) {
	s := smallstate.NewMemory()
	if _, err := NewShared(t.Context(), s, keyEncryptionKey[1:]); err == nil {
		t.Error("a key-encryption key that is too short was accepted")
	}
	other, err := NewShared(t.Context(), s, bytes.Repeat([]byte{8}, keySize))
	must(t, err)
	k := newShared(t, s)
	sealed := seal(t, k, "run")
	wrapped, err := s.Get(t.Context(), Bucket, "run")
	must(t, err)
	if key, _ := k.keys.get("run"); len(key) != keySize || bytes.Contains(wrapped, key) {
		t.Errorf("small state has the key %x as %x", key, wrapped)
	}
	if _, err := other.Unseal("run", sealed); !errors.Is(err, ErrOtherKey) || !other.Has("run") {
		t.Errorf("unsealing with another key-encryption key: %v", err)
	}
	if _, err := other.Seal("run", nil); !errors.Is(err, ErrOtherKey) {
		t.Errorf("sealing with another key-encryption key: %v", err)
	}
	if _, err := NewShared(t.Context(), s, bytes.Repeat([]byte{8}, keySize)); !errors.Is(err, ErrOtherKey) {
		t.Errorf("opening with another key-encryption key: %v", err)
	}
	// A key is that of its run only.
	if _, err := s.Apply(context.Background(), smallstate.Change{Bucket: Bucket, Key: "copy", New: wrapped}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Unseal("copy", sealed); !errors.Is(err, ErrOtherKey) {
		t.Errorf("with the key of another run: %v", err)
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

// A key that is exported opens what was sealed, wherever it is imported.
func testExport(t *testing.T, open func() *Keyring) {
	from := open()
	sealed := seal(t, from, "run")
	key, err := from.Export("run")
	if err != nil || len(key) != keySize {
		t.Fatal(key, err)
	}
	if other, err := from.Export("other"); other != nil || err != nil {
		t.Error(other, err)
	}
	for name, storage := range storages {
		to := storage(t)()
		if err := errors.Join(to.Import("run", key), to.Import("cut off", key[1:])); err != nil {
			t.Error(name, err)
		}
		if text, err := to.Unseal("run", sealed); err != nil || string(text) != "swordfish" || to.Has("cut off") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}
