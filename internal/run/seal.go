package run

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
)

// A keyring holds a key a run for its secret answers. The log has the sealed
// text only, so that without the key, which is gone when the run ends, nobody
// can read it.
type keyring struct {
	mu   sync.Mutex
	keys map[string]cipher.AEAD
}

var errNoKey = errors.New("the secret can't be read any more: its key is gone")

// seal encrypts a text for a run (AES-256-GCM, the run's id as additional data).
func (k *keyring) seal(run string, text []byte) ([]byte, error) {
	aead, err := k.key(run)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, []byte(run)), nil
}

// open is the inverse of seal.
func (k *keyring) open(run string, sealed []byte) ([]byte, error) {
	k.mu.Lock()
	aead := k.keys[run]
	k.mu.Unlock()
	if aead == nil {
		return nil, errNoKey
	}
	return aead.Open(nil, nil, sealed, []byte(run))
}

func (k *keyring) forget(run string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, run)
}

// key returns the run's key, making it if need be.
func (k *keyring) key(run string) (cipher.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if aead := k.keys[run]; aead != nil {
		return aead, nil
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	if k.keys == nil {
		k.keys = make(map[string]cipher.AEAD)
	}
	k.keys[run] = aead
	return aead, nil
}
