// Package keyring encrypts the secret answers of runs, each run's with a key of
// its own.
package keyring

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

// A Keyring has a key for each run with secret answers. The log has only the
// encrypted answers. When the run ends, its key is deleted, after which nobody
// can read them. Each key is in a file of its own, readable only by the file's
// owner, so that a run can be resumed after a restart. The methods may be called from several goroutines.
type Keyring struct {
	dir string

	mu             sync.Mutex
	keys           map[string]cipher.AEAD
	pauseCount     int      // calls of PauseDeletion without one of ResumeDeletion
	pendingDeletes []string // runs whose key files ResumeDeletion removes
}

// New returns the keyring with its keys in dir, a folder that it creates when it
// first needs it. If dir is empty, the keys are only in memory.
func New(dir string) *Keyring { return &Keyring{dir: dir} }

// ErrNoKey means that a run has no key: it was deleted, or never created.
var ErrNoKey = errors.New("the secret can no longer be read: its key has been deleted")

// keySize is the length of a key, in bytes.
const keySize = 32

// Seal encrypts a text for a run (AES-256-GCM, the run's id as additional data).
func (k *Keyring) Seal(run string, text []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	aead, err := k.loadKey(run)
	if errors.Is(err, ErrNoKey) {
		aead, err = k.createKey(run)
	}
	if err != nil {
		return nil, fmt.Errorf("sealing a secret: %w", diskspace.WrapDiskFull(err))
	}
	return aead.Seal(nil, nil, text, []byte(run)), nil
}

// Unseal decrypts what Seal has encrypted. The error is ErrNoKey if the key has
// been deleted.
func (k *Keyring) Unseal(run string, sealed []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	aead, err := k.loadKey(run)
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, nil, sealed, []byte(run))
}

// Has reports whether a run has a key.
func (k *Keyring) Has(run string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[run] != nil || k.dir == "" {
		return k.keys[run] != nil
	}
	_, err := os.Lstat(k.keyFile(run))
	return !errors.Is(err, fs.ErrNotExist)
}

// Runs returns the ids of the runs that have keys in files.
func (k *Keyring) Runs() (ids []string, err error) {
	if k.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(k.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, err
}

// Delete deletes a run's key: what was sealed for the run can't be read any
// more. While deletion is paused, the file stays.
func (k *Keyring) Delete(run string) error {
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
func (k *Keyring) removeKeyFile(run string) error {
	err := os.Remove(k.keyFile(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (k *Keyring) keyFile(run string) string { return filepath.Join(k.dir, run) }

// loadKey returns the run's key, or ErrNoKey. Callers hold mu.
func (k *Keyring) loadKey(run string) (cipher.AEAD, error) {
	if aead := k.keys[run]; aead != nil {
		return aead, nil
	}
	if k.dir == "" {
		return nil, ErrNoKey
	}
	secret, err := os.ReadFile(k.keyFile(run))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(secret) != keySize {
		return nil, ErrNoKey
	}
	if err != nil {
		return nil, err
	}
	return k.cacheKey(run, secret)
}

// createKey creates the run's key. Callers hold mu.
func (k *Keyring) createKey(run string) (cipher.AEAD, error) {
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
func (k *Keyring) createDir() error {
	if _, err := os.Stat(k.dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(k.dir))
}

func (k *Keyring) cacheKey(run string, secret []byte) (cipher.AEAD, error) {
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

// PauseDeletion keeps the files of deleted keys until each call of it has been
// followed by one of ResumeDeletion.
func (k *Keyring) PauseDeletion() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pauseCount++
}

// ResumeDeletion ends one pause. When it was the last, it deletes the pending keys.
// If the process is killed before, the next one deletes them when it reads that
// the runs have ended.
func (k *Keyring) ResumeDeletion() (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pauseCount--; k.pauseCount > 0 {
		return nil
	}
	for _, run := range k.pendingDeletes {
		err = errors.Join(err, k.removeKeyFile(run))
	}
	k.pendingDeletes = nil
	return err
}
