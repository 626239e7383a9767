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

// openFolder returns the folder to look through, and its path below the one that the
// operator allows. What it says in an error tells nothing of that one's place.
func openFolder(ctx context.Context, folder string) (*os.Root, string, error) {
	allowed, ok := generators.Root(ctx)
	if !ok {
		return nil, "", errors.New("no folder may be read here: the operator can allow one with --root FOLDER")
	}
	name := path.Clean(filepath.ToSlash(folder))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, "", fmt.Errorf("the folder %q is not below the one that Beam may read: "+
			"use a path relative to that folder, such as photos/2026", folder)
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

// directorySuffix, after a path, makes the system refuse whatever is no folder.
// Without it a named pipe would be opened, and that waits for a writer.
const directorySuffix = string(filepath.Separator) + "."

// withoutPath is an error without the path that it happened at.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
