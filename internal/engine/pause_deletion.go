package engine

import (
	"errors"
	"sync"
)

// ErrDeletionPaused: nothing can be deleted now.
var ErrDeletionPaused = errors.New("a backup is being made; try again when it is there")

// PauseDeletion has no run, key or file of one deleted until release is called, so that
// whoever reads the log finds what it names. What is due meanwhile is deleted
// then. Runs go on.
func (e *Engine) PauseDeletion() (release func()) {
	e.deleteLock.RLock()
	e.keys.pauseDeletion()
	return sync.OnceFunc(func() {
		e.deleteLock.RUnlock()
		if err := e.keys.resumeDeletion(); err != nil {
			e.logger.Error("removing the keys of runs that have ended", "err", err)
		}
	})
}

func (k *keyring) pauseDeletion() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pauseCount++
}

func (k *keyring) isDeletionPaused() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pauseCount > 0
}

// resumeDeletion removes what was to be removed meanwhile. A process that is killed
// before forgets those keys when it reads that the runs have ended.
func (k *keyring) resumeDeletion() (err error) {
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
