package programdigest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

func TestGetReturnsDigestOfProgram(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	if got, want := Get(), hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
