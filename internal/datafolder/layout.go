package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store/sqlite"
	"github.com/photon-beam/beam/web/identity"
)

// The contents of a data folder, besides the store.
const (
	lockFile         = "lock"
	blobFolder       = "blobs"    // values that are too large for the log
	secretKeysFolder = "keys"     // of secret answers, one file per run
	sealFile         = "seal-key" // encrypts the session keys, which are in the store
	logFolder        = "log"      // the runs of an earlier version
)

// A layout says where the parts of a data folder are.
type layout struct {
	// Dir is the folder's path.
	Dir     string
	reached func(step string) // of a migration or a repair, for tests; may be nil
}

func (l *layout) path(elements ...string) string {
	return filepath.Join(append([]string{l.Dir}, elements...)...)
}

// KeyDir returns the folder of the keys of secret answers.
func (l *layout) KeyDir() string { return l.path(secretKeysFolder) }

// keyStore returns where the folder's session keys are, given its small state.
func (l *layout) keyStore(s smallstate.Store) identity.KeyStore {
	return identity.KeyStore{State: s, SealFile: l.path(sealFile)}
}

// reach tells tests how far a change has come.
func (l *layout) reach(step string) {
	if l.reached != nil {
		l.reached(step)
	}
}

// hasStore reports whether the folder has a file of a store.
func (l *layout) hasStore() (bool, error) {
	for _, name := range sqlite.FileNames() {
		if found, err := exists(l.path(name)); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// requireRuns returns an error if the folder has what belongs to runs, but no runs: their files
// may be on a volume that isn't mounted.
func (l *layout) requireRuns() error {
	if has, err := l.hasStore(); has || err != nil {
		return err
	}
	for _, dir := range []string{l.path(blobFolder), l.KeyDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return folderError(err)
		}
		if len(entries) > 0 {
			return fmt.Errorf("%w: %s has files of runs, but %s has no runs: if they are on a volume of their own, mount it; to start anew, move the files away", runlog.ErrCorrupt, dir, l.Dir)
		}
	}
	return nil
}

func folderError(err error) error { return fmt.Errorf("the data folder can't be used: %w", err) }

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
