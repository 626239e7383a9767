// Package lasting writes files that are there, and whole, after a crash and on a
// full disk.
package lasting

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Write writes a file that only its owner can read (mode 0600), in the place of
// any that was there. If it can't, what was there stays.
func Write(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which is gone when it has its name
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(file))
}

// SyncFolder makes what a folder names last.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such thing
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
