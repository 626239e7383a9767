package users

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// Edit changes a file of users, which it creates if it doesn't exist. Edits by several
// processes happen one after the other, and readers see all of one or nothing. If change
// returns an error, or what it made isn't valid, the file stays as it is.
func Edit(path string, change func(*File) error) (err error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // a link to the file stays one
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("the users can't be locked: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	f := &File{}
	if _, statErr := os.Stat(path); !errors.Is(statErr, fs.ErrNotExist) {
		if f, err = Load(path); err != nil {
			return err
		}
	}
	if err := change(f); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.Users == nil {
		f.Users = []*User{}
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(raw, '\n'))
}
