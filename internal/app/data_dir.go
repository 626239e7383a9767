package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ResolveDataDir returns dir, or the user's own data folder if dir is empty.
func ResolveDataDir(dir string) (string, error) {
	if dir == "" {
		return defaultDataDir()
	}
	return dir, nil
}

// defaultDataDir returns the user's own data folder, below the folder where
// programs keep their state (XDG Base Directory Specification).
func defaultDataDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "beam"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home folder to store data in (%w): name one with --data, or use --memory", err)
	}
	return filepath.Join(home, ".local", "state", "beam"), nil
}

// RequireDataDir returns an error if dir is no data folder.
func RequireDataDir(dir string) error {
	for _, name := range ownFiles {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return folderError(err)
		}
	}
	return fmt.Errorf("%s is not a Beam data folder", dir)
}
