package datafolder

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/store/sqlite"
)

// Resolve returns dir, or the user's own data folder if dir is empty: it is below the folder
// where programs keep their state (XDG Base Directory Specification).
func Resolve(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "beam"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home folder to store data in (%w): name one with --data, or use --memory", err)
	}
	return filepath.Join(home, ".local", "state", "beam"), nil
}

// Require returns an error if dir is no data folder.
func Require(dir string) error {
	for _, name := range ownFiles {
		if found, err := exists(filepath.Join(dir, name)); err != nil {
			return folderError(err)
		} else if found {
			return nil
		}
	}
	return fmt.Errorf("%s is not a Beam data folder", dir)
}

// ownFiles are files of which a data folder has one.
var ownFiles = append([]string{sealFile, oldKeysFile}, sqlite.FileNames()...)
