// Package atomicfile writes files so that, after a crash or on a full disk, they
// are either complete or unchanged.
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

// Write creates or replaces a file that only its owner can read (mode 0600). When
// it returns, the content is on the disk. If it fails, an existing file is
// unchanged.
func Write(file string, content []byte) error { return WriteMode(file, content, 0o600) }

// WriteMode is [Write] for a file with another mode.
func WriteMode(file string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+Partial+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no-op after the rename
	_, err = f.Write(content)
	if mode != 0o600 { // which it has
		err = errors.Join(err, f.Chmod(mode))
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(file))
}

// Partial is part of the name of a file that is being written, before a number.
const Partial = ".partial-"

// Sweep removes incomplete files from a folder, which a process that was killed
// during [Write] left. No Write may be running there. It is no error if the folder
// doesn't exist.
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

// MakeDir creates a folder that only its owner can enter (mode 0700), and missing
// parents, and makes their names durable. It is no error if the folder exists.
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
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MakeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders can't be synced
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
