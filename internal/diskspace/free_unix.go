//go:build linux || darwin || freebsd

package diskspace

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes this user can still write.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	if free := uint64(s.Bavail) * uint64(s.Bsize); free < math.MaxInt64/2 {
		return int64(free), nil
	}
	return math.MaxInt64 / 2, nil
}
