package identity

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// Keys sign and encrypt browser sessions.
type Keys struct {
	ID      string `json:"id"` // part of the cookie's name, since ports share cookies
	Signing []byte `json:"signing"`
	Sealing []byte `json:"sealing"`
	// SignedOut has when people have signed out everywhere, in milliseconds of Unix time, by
	// their ids.
	SignedOut map[string]int64 `json:"signedOut,omitempty"`

	file string // where they are kept; empty if they aren't
}

// Copy returns the keys for a process that doesn't own their file.
func (k Keys) Copy() Keys {
	k.file = ""
	return k
}

// NewKeys returns new random keys.
func NewKeys() Keys {
	k := Keys{ID: strings.ToLower(rand.Text()[:8]), Signing: make([]byte, 32), Sealing: make([]byte, 32)}
	rand.Read(k.Signing)
	rand.Read(k.Sealing)
	return k
}

// KeysFile is the name of the file that holds the keys of a data folder.
const KeysFile = "session-keys.json"

// LoadKeys reads the keys from a folder. If there are none, it creates them, readable
// only by the owner.
func LoadKeys(dir string) (Keys, error) {
	file := filepath.Join(dir, KeysFile)
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return createKeys(file)
	}
	if err != nil {
		return Keys{}, err
	}
	var k Keys
	if err := json.Unmarshal(raw, &k); err != nil || k.ID == "" || len(k.Signing) != 32 || len(k.Sealing) != 32 {
		return Keys{}, errors.New(file + " contains no valid session keys; if you remove it, browsers must sign in again")
	}
	k.file = file
	return k, nil
}

func createKeys(file string) (Keys, error) {
	k := NewKeys()
	k.file = file
	raw, err := json.Marshal(k)
	if err != nil {
		return Keys{}, err
	}
	return k, atomicfile.Write(file, raw) // atomic: a truncated file would fail the next start
}
