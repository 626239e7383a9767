package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// Write adds the entry to a client's configuration file, which it creates if there is
// none. The file keeps its mode, and is complete or unchanged after a crash. Write reports
// whether it has changed the file.
func (c Client) Write(file string, e Entry) (changed bool, err error) {
	return edit(file, func(document []byte) ([]byte, bool, error) { return c.AddTo(document, e) })
}

// Remove removes the entry from a client's configuration file, as [Client.RemoveFrom]
// does. It reports whether the file had it.
func (c Client) Remove(file string, e Entry) (removed bool, err error) {
	return edit(file, func(document []byte) ([]byte, bool, error) { return c.RemoveFrom(document, e) })
}

func edit(file string, change func(document []byte) (edited []byte, changed bool, err error)) (changed bool, err error) {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // a link stays one
	}
	document, mode, err := read(file)
	if err != nil {
		return false, err
	}
	edited, changed, err := change(document)
	if err != nil {
		return false, fmt.Errorf("%s was not changed: %w", file, err)
	}
	if !changed {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return false, err
	}
	if now, _, err := read(file); err != nil || !bytes.Equal(now, document) {
		return false, errors.Join(fmt.Errorf("%s was changed by another program just now: try again", file), err)
	}
	return true, atomicfile.WriteMode(file, edited, mode)
}

// read returns the content of a file and its mode. A file that doesn't exist is empty,
// and will be its owner's only.
func read(file string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0o600, nil
	case err != nil:
		return nil, 0, err
	}
	document, err := os.ReadFile(file)
	return document, info.Mode().Perm(), err
}
