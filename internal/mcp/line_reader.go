package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxMessageSize bounds a message, in bytes.
const maxMessageSize = 16 << 20

var errLineTooLong = errors.New("the line is too long")

// readMessages hands the lines of in to handle, one after the other, until its end
// or an error. It skips blank ones. One that is too long it refuses on out.
func readMessages(in io.Reader, out *lineWriter, handle func(line []byte)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if errors.Is(err, errLineTooLong) {
			out.sendReplyAsync(errorReply(nil, rpcErrorf(mcp.INVALID_REQUEST, "a message has at most %d bytes", maxMessageSize)))
			continue
		}
		if len(line) > 0 {
			handle(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line without its end and without blanks around it; at the end
// of the stream a line needs no end. The line is the caller's to keep. The error
// may come with a line; it is errTooLong for one that is skipped.
func readLine(r *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessageSize; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			err = errLineTooLong
		}
		return bytes.TrimSpace(line), err
	}
}
