//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivateFolder tells whether a path is a folder of this user's that nobody else can
// enter. Folders for temporary files are everybody's.
func isPrivateFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeDir|0o700 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}
