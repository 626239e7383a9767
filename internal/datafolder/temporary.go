package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// temporaryFolderPrefix begins the names of temporary folders.
const temporaryFolderPrefix = "beam-memory-"

// OpenTemporary opens a folder that is removed when it is closed. It also removes the temporary
// folders of processes that were killed.
func OpenTemporary() (*Folder, error) {
	removeStaleFolders(os.TempDir())
	for range 10 {
		f, err := tryOpenTemporary()
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, errors.New("can't make a temporary folder: another process keeps removing it")
}

// tryOpenTemporary returns nil if another process removed the folder before this one locked it.
func tryOpenTemporary() (*Folder, error) {
	dir, err := os.MkdirTemp("", temporaryFolderPrefix)
	if err != nil {
		return nil, fmt.Errorf("can't make a temporary folder: %w", err)
	}
	f := &Folder{lockedFolder: newLockedFolder(dir), Temporary: true}
	locked, err := f.lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !locked:
		return nil, nil
	case err != nil:
		os.RemoveAll(dir)
		return nil, fmt.Errorf("can't use the temporary folder %s: %w", dir, err)
	}
	if _, err := os.Stat(f.lock.Path()); errors.Is(err, fs.ErrNotExist) {
		f.lock.Unlock() // the folder was removed before it was locked
		return nil, nil
	}
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir), f.unlock())
	}
	return f, nil
}

// removeStaleFolders removes this user's temporary folders that no process has
// locked. It keeps those without a lock file: another process may be creating them.
func removeStaleFolders(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return // making a folder fails as well, and reports it
	}
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		if !strings.HasPrefix(e.Name(), temporaryFolderPrefix) || !isPrivateFolder(dir) {
			continue
		}
		if lock, err := os.Lstat(filepath.Join(dir, lockFile)); err != nil || !lock.Mode().IsRegular() {
			continue
		}
		f := newLockedFolder(dir)
		if locked, err := f.lock.TryLock(); err == nil && locked {
			os.RemoveAll(dir)
			f.lock.Unlock()
		}
	}
}
