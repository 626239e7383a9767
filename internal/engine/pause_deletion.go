package engine

import (
	"errors"
	"sync"
)

// ErrDeletionPaused means that runs can't be deleted while deletion is paused.
var ErrDeletionPaused = errors.New("a backup is in progress; try again when it has finished")

// PauseDeletion prevents the deletion of runs, their files and their keys until
// release is called, so that everything the log refers to stays readable. What
// is due in the meantime is deleted on release. Runs continue.
func (e *Engine) PauseDeletion() (release func()) {
	e.deleteLock.RLock()
	e.keys.pauseDeletion()
	return sync.OnceFunc(func() {
		e.deleteLock.RUnlock()
		if err := e.keys.resumeDeletion(); err != nil {
			e.logger.Error("deleting the keys of ended runs", "err", err)
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

// resumeDeletion ends one pause. When it was the last, it deletes the pending keys.
// If the process is killed before, the next one deletes them when it reads that
// the runs have ended.
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
