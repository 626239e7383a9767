package run

import (
	"errors"
	"sync"
)

// ErrHeld: nothing can be deleted now.
var ErrHeld = errors.New("a backup is being made; try again when it is there")

// Hold has no run, key or file of one deleted until release is called, so that
// whoever reads the log finds what it names. What is due meanwhile is deleted
// then. Runs go on.
func (e *Engine) Hold() (release func()) {
	e.deleting.RLock()
	e.keys.hold()
	return sync.OnceFunc(func() {
		e.deleting.RUnlock()
		if err := e.keys.letGo(); err != nil {
			e.logger.Error("removing the keys of runs that have ended", "err", err)
		}
	})
}

func (k *keyring) hold() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held++
}

func (k *keyring) isHeld() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held > 0
}

// letGo removes what was to be removed meanwhile. A process that is killed
// before forgets those keys when it reads that the runs have ended.
func (k *keyring) letGo() (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held--; k.held > 0 {
		return nil
	}
	for _, run := range k.due {
		err = errors.Join(err, k.remove(run))
	}
	k.due = nil
	return err
}
