//go:build unix

package app

import "syscall"

// maxOpenFiles returns how many files this process can have open; 0 if that isn't known.
func maxOpenFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
