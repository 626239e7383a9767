package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/photon-beam/beam/generators"
)

// openFolder opens a folder below the one that the operator allows, and returns its
// cleaned path. Errors don't disclose where the allowed folder is.
func openFolder(ctx context.Context, folder string) (*os.Root, string, error) {
	allowed, ok := generators.Root(ctx)
	if !ok {
		return nil, "", errors.New("no folder may be read; the operator can allow one with --root FOLDER")
	}
	name := path.Clean(filepath.ToSlash(folder))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, "", fmt.Errorf("the folder %q is not below the one that Beam may read; "+
			"enter a path relative to that folder, such as photos/2026", folder)
	}
	root, err := os.OpenRoot(allowed)
	if err != nil {
		return nil, "", fmt.Errorf("the folder given with --root can't be opened: %w", withoutPath(err))
	}
	defer root.Close()
	dir, err := root.OpenRoot(filepath.FromSlash(name) + directorySuffix)
	if err != nil {
		return nil, "", fmt.Errorf("the folder %q can't be opened: %w", folder, withoutPath(err))
	}
	return dir, name, nil
}

// directorySuffix is appended to a path so that only a folder can be opened. Opening a
// named pipe would wait for a writer.
const directorySuffix = string(filepath.Separator) + "."

// withoutPath returns the cause of a [*fs.PathError], and any other error unchanged.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
