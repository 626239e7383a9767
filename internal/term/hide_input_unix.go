//go:build unix && !aix && !solaris

package term

import "golang.org/x/sys/unix"

// hideInput turns the echo of a terminal off until restore is called.
func hideInput(fd uintptr) (restore func(), err error) {
	before, err := unix.IoctlGetTermios(int(fd), getTermios)
	if err != nil {
		return nil, err
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(int(fd), setTermios, &hidden); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(int(fd), setTermios, before) }, nil
}
