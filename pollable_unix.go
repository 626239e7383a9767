//go:build unix

package beam

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/photon-beam/beam/internal/nowait"
)

// pollable makes reading from a pipe or socket wait in the runtime's poller,
// where it holds no thread and can be ended. Other files are read as they are,
// and one that is the output, too: that must go on to wait when it is full.
// Whether a stream blocks is known to everybody who has it, and theirs to change.
// So a pipe is opened once more, where that can be done.
func pollable(f *os.File, out io.Writer) (*os.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	if info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f, nil
	}
	if o, ok := out.(*os.File); ok {
		if there, err := o.Stat(); err != nil || os.SameFile(info, there) {
			return f, nil
		}
	}
	if info.Mode()&os.ModeNamedPipe != 0 {
		if own, err := nowait.Again(f, os.O_RDONLY); err == nil {
			return own, nil
		}
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
