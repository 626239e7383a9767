//go:build unix

package nowait

import (
	"fmt"
	"os"
	"syscall"
)

// Again opens a pipe once more, to read (os.O_RDONLY) or to write (os.O_WRONLY),
// in non-blocking mode: that of f itself is known to everybody who has it, and
// theirs to change. The error is the file system's; where there is no /proc it
// can't be done.
func Again(f *os.File, mode int) (*os.File, error) {
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), mode|syscall.O_NONBLOCK, 0)
}
