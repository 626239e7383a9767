//go:build unix

package datafolder

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivateFolder reports whether path is a folder that this user owns and no
// other user can enter.
func isPrivateFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeDir|0o700 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}
