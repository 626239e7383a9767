//go:build !unix

package config

import (
	"fmt"
	"os"
)

// checkPrivate returns an error if path is not a regular file. Who can read it is
// not in its mode on this system.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}
