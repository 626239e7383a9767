// Package stdio implements the framing of MCP's stdio transport: each JSON-RPC
// message is one line (MCP, Transports, stdio).
package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/photon-beam/beam/internal/mcp/message"
)

var errLineTooLong = errors.New("the line is too long")

// ReadLines calls handle for each line of in, without its end and surrounding white
// space, until the end of in or a read error. It skips blank lines, and calls
// handleTooLong for each line longer than [message.MaxSize] instead. The callee may keep
// the line.
func ReadLines(in io.Reader, handle func(line []byte), handleTooLong func()) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if errors.Is(err, errLineTooLong) {
			handleTooLong()
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

// readLine reads a line and trims white space. The last line of the stream needs no
// newline, so an error may come with a line. The error is errLineTooLong for a line
// that was skipped.
func readLine(r *bufio.Reader) (line []byte, err error) {
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > message.MaxSize; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			err = errLineTooLong
		}
		return bytes.TrimSpace(line), err
	}
}
