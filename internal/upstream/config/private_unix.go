//go:build unix

package config

import (
	"fmt"
	"os"
)

// checkPrivate returns an error if others than its owner can read a file.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); !mode.IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	} else if mode.Perm()&0o077 != 0 {
		return fmt.Errorf("others can read or change the file %s (mode %#o): run chmod 600 on it", path, mode.Perm())
	}
	return nil
}
