package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gofrs/flock"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/web/identity"
)

// A DataFolder is a folder for the data that outlives the process. One process
// owns it from the time it opens the folder until it closes it.
type DataFolder struct {
	dir       string
	temporary bool
	lock      *flock.Flock
	socket    *controlsocket.Server // where other processes join; nil for a temporary folder
	blobs     *blob.Store
	reached   func(step string)  // of a migration or a repair, for tests
	sealDir   string             // has sealFile, if that isn't dir
	shared    *smallstate.Memory // what a temporary folder has of another's small state; nil for nothing
}

// The contents of a data folder, besides the store.
const (
	lockFile         = "lock"
	blobFolder       = "blobs"    // values that are too large for the log
	secretKeysFolder = "keys"     // of secret answers, one file per run
	sealFile         = "seal-key" // encrypts the session keys, which are in the store
)

// ErrFolderInUse is returned if another process owns the data folder.
var ErrFolderInUse = errors.New("the data folder is in use by another Beam")

// OpenDataFolder opens the data folder dir, creating it if it doesn't exist. If
// dir is empty, it opens the user's own data folder. The error wraps
// [ErrFolderInUse] if another process owns the folder.
func OpenDataFolder(dir string) (*DataFolder, error) {
	f, err := lockDataFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := f.checkRestored(); err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	if f.socket, err = controlsocket.Listen(f.dir); err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	return f.openOrRelease()
}

// OpenFallbackFolder opens a temporary folder for a process that can't use the
// user's own. It shares the session keys of the user's own folder, if this version can read them, so
// that a browser that is signed in there is signed in here.
func OpenFallbackFolder(ctx context.Context) (*DataFolder, error) {
	f, err := OpenTemporaryFolder()
	if err != nil {
		return nil, err
	}
	dir, err := defaultDataDir()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	shared, err := store.ReadState(ctx, dir, identity.Buckets()...)
	if err != nil {
		return f, nil
	}
	if found, err := (identity.KeyStore{State: shared, SealFile: filepath.Join(dir, sealFile)}).Check(ctx); found && err == nil {
		f.shared, f.sealDir = shared, dir
	}
	return f, nil
}

// Close closes the stores in the folder and gives up its ownership.
func (f *DataFolder) Close() error {
	removeRedirects(f.dir, 0)
	err := f.blobs.Close()
	if f.temporary {
		return errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	}
	return errors.Join(err, f.socket.StopAccepting(), f.lock.Unlock())
}

// lockDataFolder makes this process the owner of a folder without opening it.
func lockDataFolder(dir string) (*DataFolder, error) {
	dir, err := ResolveDataDir(dir)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.MakeDir(dir); err != nil {
		return nil, fmt.Errorf("the data folder can't be made: %w", err)
	}
	if err := ensurePrivate(dir); err != nil {
		return nil, err
	}
	f := &DataFolder{dir: dir, lock: newFolderLock(dir)}
	locked, err := f.lock.TryLock()
	if err != nil {
		return nil, folderError(err)
	}
	if !locked {
		return nil, ErrFolderInUse
	}
	return f, nil
}

func newFolderLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
}

func folderError(err error) error { return fmt.Errorf("the data folder can't be used: %w", err) }

// ownFiles are files of which a data folder has one.
var ownFiles = append([]string{sealFile, oldKeysFile}, store.Files()...)

// ensurePrivate makes sure that no other user can enter the folder: a user who
// can write to it can replace the keys of all sessions. It changes no folder that
// holds other files.
func ensurePrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return folderError(err)
	}
	own := len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return slices.Contains(ownFiles, e.Name()) })
	if own {
		err = os.Chmod(dir, 0o700)
	}
	if !own || err != nil {
		return fmt.Errorf("the data folder %s can be entered by others (its mode is %o): chmod 700 it, or choose another folder with --data",
			dir, info.Mode().Perm())
	}
	return nil
}

// openOrRelease opens the stores in the folder; if that fails, it gives up the
// folder.
func (f *DataFolder) openOrRelease() (*DataFolder, error) {
	err := f.openStores()
	switch {
	case err == nil:
		return f, nil
	case f.temporary:
		return nil, errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	default:
		return nil, errors.Join(err, f.socket.StopAccepting(), f.lock.Unlock())
	}
}

// openStores opens the stores in the folder, and removes the partial files of
// processes that were killed.
func (f *DataFolder) openStores() (err error) {
	if err := atomicfile.Sweep(f.dir); err != nil {
		return folderError(err)
	}
	removeRedirects(f.dir, 0)
	if has, err := f.hasStore(); err != nil {
		return folderError(err)
	} else if !has && !f.temporary {
		if err := f.keyStore(nil).CreateSeal(); err != nil {
			return folderError(err)
		}
	}
	if f.blobs, err = blob.Open(f.blobDir()); err != nil {
		return folderError(err)
	}
	if err := f.blobs.Sweep(); err != nil {
		return errors.Join(folderError(err), f.blobs.Close())
	}
	return nil
}

func (f *DataFolder) blobDir() string { return filepath.Join(f.dir, blobFolder) }
func (f *DataFolder) keyDir() string  { return filepath.Join(f.dir, secretKeysFolder) }

// keyStore returns where the folder's session keys are, given its small state.
func (f *DataFolder) keyStore(s smallstate.Store) identity.KeyStore {
	return identity.KeyStore{State: s, SealFile: filepath.Join(cmp.Or(f.sealDir, f.dir), sealFile)}
}
