//go:build unix && !aix && !solaris

package term

import (
	"errors"
	"regexp"

	"golang.org/x/sys/unix"
)

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

// maxDiscarded bounds how much is discarded at once, in bytes.
const maxDiscarded = 1 << 20

// terminalReply matches what a terminal sends by itself.
var terminalReply = regexp.MustCompile(`\x1b\[[?>=][0-9;$]*[A-Za-z]|\x1b\[[0-9;]*[RtnIO]|\x1b[P\]_^][^\x07\x1b]*(?:\x07|\x1b\\)`)

// discardInput removes from a terminal's input what was typed and not read yet. It reports
// whether there was any.
func discardInput(fd uintptr) (typed bool) {
	before, err := unix.IoctlGetTermios(int(fd), getTermios)
	if err != nil {
		return false
	}
	polled := *before // also returns lines that have no end yet
	polled.Lflag &^= unix.ICANON | unix.ECHO
	polled.Cc[unix.VMIN], polled.Cc[unix.VTIME] = 0, 0
	if unix.IoctlSetTermios(int(fd), setTermios, &polled) != nil {
		return false
	}
	defer func() { _ = unix.IoctlSetTermios(int(fd), setTermios, before) }()
	var input []byte
	buffer := make([]byte, 4096)
	for len(input) < maxDiscarded {
		n, err := unix.Read(int(fd), buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		input = append(input, buffer[:n]...)
	}
	return len(terminalReply.ReplaceAll(input, nil)) > 0
}
