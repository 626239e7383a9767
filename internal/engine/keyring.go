package engine

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/diskspace"
)

// A keyring has a key for each run with secret answers. The log has only the
// encrypted answers. When the run ends, its key is deleted, after which nobody
// can read them. Each key is in a file of its own, readable only by the file's
// owner, so that a run can be resumed after a restart. Without a folder, the keys
// are only in memory. The methods may be called from several goroutines.
type keyring struct {
	dir string

	mu             sync.Mutex
	keys           map[string]cipher.AEAD
	pauseCount     int      // calls of Engine.PauseDeletion that are in effect
	pendingDeletes []string // runs whose key files resumeDeletion removes
}

var errNoKey = errors.New("the secret can no longer be read: its key has been deleted")

// keySize is the length of a key, in bytes.
const keySize = 32

// seal encrypts a text for a run (AES-256-GCM, the run's id as additional data).
func (k *keyring) seal(run string, text []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	aead, err := k.loadKey(run)
	if errors.Is(err, errNoKey) {
		aead, err = k.createKey(run)
	}
	if err != nil {
		return nil, fmt.Errorf("sealing a secret: %w", diskspace.WrapDiskFull(err))
	}
	return aead.Seal(nil, nil, text, []byte(run)), nil
}

// unseal decrypts what seal has encrypted. The error is errNoKey if the key has
// been deleted.
func (k *keyring) unseal(run string, sealed []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	aead, err := k.loadKey(run)
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, nil, sealed, []byte(run))
}

// deleteKey deletes a run's key: what was sealed for the run can't be read any
// more. While deletion is paused, the file stays.
func (k *keyring) deleteKey(run string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, run)
	switch {
	case k.dir == "":
		return nil
	case k.pauseCount > 0:
		k.pendingDeletes = append(k.pendingDeletes, run)
		return nil
	}
	return k.removeKeyFile(run)
}

// removeKeyFile removes the file of a run's key, if there is one. Callers hold mu.
func (k *keyring) removeKeyFile(run string) error {
	err := os.Remove(k.keyFile(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (k *keyring) keyFile(run string) string { return filepath.Join(k.dir, run) }

// loadKey returns the run's key, or errNoKey. Callers hold mu.
func (k *keyring) loadKey(run string) (cipher.AEAD, error) {
	if aead := k.keys[run]; aead != nil {
		return aead, nil
	}
	if k.dir == "" {
		return nil, errNoKey
	}
	secret, err := os.ReadFile(k.keyFile(run))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(secret) != keySize {
		return nil, errNoKey
	}
	if err != nil {
		return nil, err
	}
	return k.cacheKey(run, secret)
}

// createKey creates the run's key. Callers hold mu.
func (k *keyring) createKey(run string) (cipher.AEAD, error) {
	secret := make([]byte, keySize)
	rand.Read(secret)
	if k.dir != "" {
		if err := k.createDir(); err != nil {
			return nil, err
		}
		if err := writeFileSynced(k.keyFile(run), secret); err != nil {
			return nil, err
		}
	}
	return k.cacheKey(run, secret)
}

// createDir creates the folder of the keys if necessary. Callers hold mu.
func (k *keyring) createDir() error {
	if _, err := os.Stat(k.dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(k.dir))
}

func (k *keyring) cacheKey(run string, secret []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	if k.keys == nil {
		k.keys = make(map[string]cipher.AEAD)
	}
	k.keys[run] = aead
	return aead, nil
}

// writeFileSynced writes a file that survives a crash, as does its name: an answer
// that was recorded must stay readable.
func writeFileSynced(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir makes the names in a folder durable. Tests replace it.
var syncDir = atomicfile.SyncDir
