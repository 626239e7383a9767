package datafolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gofrs/flock"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// ErrInUse is returned if another process owns the data folder.
var ErrInUse = errors.New("the data folder is in use by another Beam")

// A lockedFolder is a data folder that this process owns. Its store isn't open, and may be
// damaged, or of an earlier version.
type lockedFolder struct {
	layout
	lock *flock.Flock
	// Blobs has the files of runs. It is nil until openBlobs is called.
	Blobs *blob.Store
	// Progress is told how far copying runs has come. Nil logs it from time to time.
	Progress Progress
}

// Progress is told how much of some work is done; at last, and also if it fails, that all is.
type Progress func(done, total int)

// lock makes this process the owner of a folder, which is made if it doesn't exist.
func lock(dir string) (*lockedFolder, error) {
	dir, err := Resolve(dir)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.MakeDir(dir); err != nil {
		return nil, fmt.Errorf("the data folder can't be made: %w", err)
	}
	if err := ensurePrivate(dir); err != nil {
		return nil, err
	}
	f := newLockedFolder(dir)
	locked, err := f.lock.TryLock()
	if err != nil {
		return nil, folderError(err)
	}
	if !locked {
		return nil, ErrInUse
	}
	return f, nil
}

// newLockedFolder returns a folder that is yet to be locked.
func newLockedFolder(dir string) *lockedFolder {
	return &lockedFolder{layout: layout{Dir: dir}, lock: flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))}
}

// lockUnchecked locks a folder for work on runs that may be damaged, and finishes what killed
// processes have left of earlier work. The error wraps [fs.ErrNotExist] if there is no folder.
func lockUnchecked(dir string) (*lockedFolder, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	f, err := lock(dir)
	if err != nil {
		return nil, err
	}
	err = f.checkRestored()
	if err == nil {
		err = f.finishChanges()
	}
	if err == nil {
		err = f.openBlobs()
	}
	if err != nil {
		return nil, errors.Join(err, f.unlock())
	}
	return f, nil
}

func (f *lockedFolder) openBlobs() (err error) {
	f.Blobs, err = blob.Open(f.path(blobFolder))
	return err
}

// unlock gives up the folder.
func (f *lockedFolder) unlock() (err error) {
	if f.Blobs != nil {
		err = f.Blobs.Close()
	}
	return errors.Join(err, f.lock.Unlock())
}

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
