package identity

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/smallstate"
)

// Keys sign and encrypt browser sessions, and have with them who has signed out everywhere.
type Keys struct {
	ID      string `json:"id"` // part of the cookie's name, since ports share cookies
	Signing []byte `json:"signing"`
	Sealing []byte `json:"sealing"`

	signOuts signOuts
}

// NewKeys returns new random keys, with sign-outs in memory.
func NewKeys() Keys {
	k := Keys{ID: strings.ToLower(rand.Text()[:8]), Signing: make([]byte, keySize), Sealing: make([]byte, keySize), signOuts: signOutsIn(smallstate.NewMemory())}
	rand.Read(k.Signing)
	rand.Read(k.Sealing)
	return k
}

// keySize is the length of a key, in bytes.
const keySize = 32

func (k *Keys) isValid() bool {
	return k.ID != "" && len(k.Signing) == keySize && len(k.Sealing) == keySize
}

// sealName is the additional data of what a seal encrypts.
const sealName = "session keys"

// A seal encrypts the session keys (AES-256-GCM) with the key in a file.
type seal struct{ file string }

// encrypt encrypts a text, with a new key if there is none.
func (s seal) encrypt(text []byte) ([]byte, error) {
	key, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, keySize)
		rand.Read(key)
		err = atomicfile.Write(s.file, key)
	}
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, s.explain("is damaged")
	}
	return aead.Seal(nil, nil, text, []byte(sealName)), nil
}

// decrypt decrypts what encrypt has encrypted. The error is a [*SealError] if the key isn't
// there, or another one.
func (s seal) decrypt(sealed []byte) ([]byte, error) {
	key, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.explain("is missing")
	}
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, s.explain("is damaged")
	}
	text, err := aead.Open(nil, nil, sealed, []byte(sealName))
	if err != nil {
		return nil, s.explain("is not the one that they were encrypted with, or damaged")
	}
	return text, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, aes.KeySizeError(len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (s seal) explain(problem string) error { return &SealError{s.file, problem} }

// A SealError means that the session keys can't be decrypted.
type SealError struct{ File, Problem string }

func (e *SealError) Error() string {
	return fmt.Sprintf("the session keys can't be read: %s %s. Put it back, or let the command repair make new session keys, with which everybody signs in again", e.File, e.Problem)
}
