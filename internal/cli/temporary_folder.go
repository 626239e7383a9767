package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// temporaryFolderPrefix begins the names of temporary folders.
const temporaryFolderPrefix = "beam-memory-"

// openTemporaryFolder is a folder that is removed when it is closed. Who was killed
// could not: the next one removes what is left of it.
func openTemporaryFolder() (*dataFolder, error) {
	removeStaleFolders(os.TempDir())
	for range 10 {
		f, err := tryOpenTemporaryFolder()
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, errors.New("no temporary folder can be made: others remove it at once")
}

// tryOpenTemporaryFolder returns nil if another's sweep was faster than our lock.
func tryOpenTemporaryFolder() (*dataFolder, error) {
	dir, err := os.MkdirTemp("", temporaryFolderPrefix)
	if err != nil {
		return nil, fmt.Errorf("no temporary folder can be made: %w", err)
	}
	f := &dataFolder{dir: dir, temporary: true, lock: newFolderLock(dir)}
	locked, err := f.lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !locked:
		return nil, nil
	case err != nil:
		os.RemoveAll(dir)
		return nil, fmt.Errorf("the temporary folder %s can't be used: %w", dir, err)
	}
	if _, err := os.Stat(f.lock.Path()); errors.Is(err, fs.ErrNotExist) {
		f.lock.Unlock() // it was removed between its making and our lock
		return nil, nil
	}
	return f.openOrRelease()
}

func newFolderLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
}

// removeStaleFolders removes temporary folders of this user whose process is gone: it let go
// of their lock. One without a lock is just being made.
func removeStaleFolders(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return // then nothing can be made there, either, and that is said
	}
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		if !strings.HasPrefix(e.Name(), temporaryFolderPrefix) || !isPrivateFolder(dir) {
			continue
		}
		if lock, err := os.Lstat(filepath.Join(dir, "lock")); err != nil || !lock.Mode().IsRegular() {
			continue
		}
		lock := newFolderLock(dir)
		if gone, err := lock.TryLock(); err == nil && gone {
			os.RemoveAll(dir)
			lock.Unlock()
		}
	}
}
