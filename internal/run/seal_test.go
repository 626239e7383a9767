package run

import (
	"errors"
	"os"
	"testing"
)

func TestASealedSecretOutlivesTheProcessAndNotTheRun(t *testing.T) {
	dir := t.TempDir() + "/keys"
	before := &keyring{dir: dir}
	sealed, err := before.seal("run", []byte("swordfish"))
	if err != nil {
		t.Fatal(err)
	}
	after := &keyring{dir: dir}
	if text, err := after.open("run", sealed); err != nil || string(text) != "swordfish" {
		t.Errorf("after a restart the secret is %q, %v", text, err)
	}
	if _, err := after.open("other", sealed); !errors.Is(err, errNoKey) {
		t.Errorf("another run opens it: %v", err)
	}
	if info, err := os.Stat(dir + "/run"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v; want it readable by its owner alone", info, err)
	}
	if err := after.forget("run"); err != nil {
		t.Fatal(err)
	}
	if _, err := (&keyring{dir: dir}).open("run", sealed); !errors.Is(err, errNoKey) {
		t.Errorf("the secret can be read when its run has ended: %v", err)
	}
}
