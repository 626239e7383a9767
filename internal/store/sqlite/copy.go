package sqlite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// CopyFiles copies the files of a database in dir, in which no process may write, to a folder, in
// the place of what is there.
func CopyFiles(dir, to string) error {
	if err := errors.Join(os.RemoveAll(to), atomicfile.MakeDir(to)); err != nil {
		return err
	}
	for _, name := range []string{dbFile, walFile, markFile} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file, if it exists.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
