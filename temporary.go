package beam

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// temporaryPrefix begins the names of temporary folders.
const temporaryPrefix = "beam-memory-"

// temporaryFolder is a folder that is removed when it is closed. Who was killed
// could not: the next one removes what is left of it.
func temporaryFolder() (*folder, error) {
	sweep(os.TempDir())
	for range 10 {
		f, err := tryTemporaryFolder()
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, errors.New("no temporary folder can be made: others remove it at once")
}

// tryTemporaryFolder returns nil if another's sweep was faster than our lock.
func tryTemporaryFolder() (*folder, error) {
	dir, err := os.MkdirTemp("", temporaryPrefix)
	if err != nil {
		return nil, fmt.Errorf("no temporary folder can be made: %w", err)
	}
	f := &folder{dir: dir, temporary: true, lock: lockOf(dir)}
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
	return f.filled()
}

func lockOf(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
}

// sweep removes temporary folders of this user whose process is gone: it let go
// of their lock. One without a lock is just being made.
func sweep(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return // then nothing can be made there, either, and that is said
	}
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		if !strings.HasPrefix(e.Name(), temporaryPrefix) || !mine(dir) {
			continue
		}
		if lock, err := os.Lstat(filepath.Join(dir, "lock")); err != nil || !lock.Mode().IsRegular() {
			continue
		}
		lock := lockOf(dir)
		if gone, err := lock.TryLock(); err == nil && gone {
			os.RemoveAll(dir)
			lock.Unlock()
		}
	}
}
