//go:build !unix

package app

// maxOpenFiles returns 0: how many files this process can have open isn't known.
func maxOpenFiles() uint64 { return 0 }
