// Package keyring encrypts the secret answers of runs, each run's with a key of
// its own.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/photon-beam/beam/internal/diskspace"
)

// A Keyring has a key for each run with secret answers. The log has only the
// encrypted answers. When the run ends, its key is deleted, after which nobody
// can read them. The keys outlive the process, so that a run can be resumed after
// a restart. The methods may be called from several goroutines.
type Keyring struct {
	keys storage

	mu             sync.Mutex // held while a key is deleted
	pauseCount     int        // calls of PauseDeletion without one of ResumeDeletion
	pendingDeletes []string   // runs whose keys ResumeDeletion deletes
}

// A storage keeps the keys of runs. It has no copies of what it keeps elsewhere, so that a key
// that is deleted can't be used any more. Its methods may be called from several goroutines.
type storage interface {
	// get returns a run's key, or nil if there is none.
	get(run string) ([]byte, error)

	// create stores a run's key, unless there is one, and returns the one that is stored.
	create(run string, key []byte) ([]byte, error)

	// delete deletes a run's key, if there is one.
	delete(run string) error

	// runs returns the runs that have keys.
	runs() ([]string, error)
}

// New returns the keyring with its keys in dir, a folder that it creates when it
// first needs it. Each key is in a file of its own, readable only by the file's
// owner. If dir is empty, the keys are only in memory.
func New(dir string) *Keyring {
	if dir == "" {
		return &Keyring{keys: &memory{}}
	}
	return &Keyring{keys: &folder{dir: dir}}
}

// ErrNoKey means that a run has no key: it was deleted, or never created.
var ErrNoKey = errors.New("the secret can no longer be read: its key has been deleted")

// keySize is the length of a key, in bytes.
const keySize = 32

// Seal encrypts a text for a run (AES-256-GCM, the run's id as additional data).
func (k *Keyring) Seal(run string, text []byte) ([]byte, error) {
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
	aead, err := k.loadKey(run)
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, nil, sealed, []byte(run))
}

// Has reports whether a run has a key, or may have one that can't be read.
func (k *Keyring) Has(run string) bool {
	key, err := k.keys.get(run)
	return key != nil || err != nil
}

// Runs returns the ids of the runs that have keys.
func (k *Keyring) Runs() (ids []string, err error) { return k.keys.runs() }

// Export returns a run's key for a backup, or nil if there is none.
func (k *Keyring) Export(run string) ([]byte, error) {
	key, err := k.keys.get(run)
	if err != nil || len(key) != keySize { // the process was killed when it created it
		return nil, err
	}
	return key, nil
}

// Import adds a run's key that Export has returned, unless there is one. It leaves out what is no
// key: earlier versions exported those that were cut off, too.
func (k *Keyring) Import(run string, key []byte) error {
	if len(key) != keySize {
		return nil
	}
	_, err := k.keys.create(run, key)
	return err
}

// Delete deletes a run's key: what was sealed for the run can't be read any
// more. While deletion is paused, the key stays.
func (k *Keyring) Delete(run string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pauseCount > 0 {
		k.pendingDeletes = append(k.pendingDeletes, run)
		return nil
	}
	return k.keys.delete(run)
}

// loadKey returns the run's key, or ErrNoKey.
func (k *Keyring) loadKey(run string) (cipher.AEAD, error) {
	key, err := k.keys.get(run)
	switch {
	case err != nil:
		return nil, err
	case len(key) != keySize:
		return nil, ErrNoKey
	}
	return newAEAD(key)
}

func (k *Keyring) createKey(run string) (cipher.AEAD, error) {
	key := make([]byte, keySize)
	rand.Read(key)
	key, err := k.keys.create(run, key)
	if err != nil {
		return nil, err
	}
	return newAEAD(key)
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// PauseDeletion keeps deleted keys until each call of it has been followed by one of
// ResumeDeletion. It doesn't keep other processes from deleting keys that are shared.
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
		err = errors.Join(err, k.keys.delete(run))
	}
	k.pendingDeletes = nil
	return err
}
