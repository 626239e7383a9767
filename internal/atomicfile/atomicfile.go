// Package lasting writes files that are there, and whole, after a crash and on a
// full disk.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Write writes a file that only its owner can read (mode 0600), in the place of
// any that was there. If it can't, what was there stays.
func Write(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+Partial+"*")
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
	return SyncDir(filepath.Dir(file))
}

// Partial is in the name of a file that is being written, before a number.
const Partial = ".partial-"

// Sweep removes what a process left in a folder that was killed while it wrote
// a file. Nobody may be writing one there. It is no error if there is no folder.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.Contains(e.Name(), Partial) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// MakeFolder makes a folder that only its owner can enter (mode 0700), and those
// above it that are missing, and has them last. It is no error if it is there.
func MakeDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := MakeDir(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(above)
}

// SyncDir makes what a folder names last.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such thing
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
