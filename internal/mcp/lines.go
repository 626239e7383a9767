package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// lines are what a stream says, a line at a time. One goroutine reads at a
// time.
type lines struct {
	r    *bufio.Reader
	part []byte // of a line whose rest was not there when reading was interrupted
	long bool   // that line is too long, and is being skipped
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

var errTooLong = errors.New("the line is too long")

// next reads a line without its end and without blanks around it; at the end of
// the stream a line needs no end. The line is the caller's to keep. The error may
// come with a line; it is errTooLong for one that is skipped, and
// [os.ErrDeadlineExceeded] if reading was interrupted: then nothing is lost.
func (l *lines) next() ([]byte, error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if l.long = l.long || len(l.part)+len(part) > maxMessage; l.long {
			l.part = nil
		} else {
			l.part = append(l.part, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		line, long := l.part, l.long
		l.part, l.long = nil, false
		if long && err == nil {
			err = errTooLong
		}
		return bytes.TrimSpace(line), err
	}
}

// more tells whether something of the next line has been read already.
func (l *lines) more() bool { return l.r.Buffered() > 0 }
