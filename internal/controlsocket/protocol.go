// Package controlsocket connects the processes of one user that share a data
// folder: the process that owns the folder listens on a socket in it, and serves
// the others, which don't open the folder themselves.
//
// A connection begins with a line of JSON from each side. The client's line names
// its version of this protocol and the operation that it requests. The server's
// line identifies the owner, and accepts or refuses the request. What follows
// depends on the operation. The first member of each line is the same in all
// versions, so that different versions can recognize each other.
//
// Only its user can access the folder (mode 0700) and the socket (0600). Whoever
// can open the socket could read the folder as well, so clients aren't
// authenticated. On Windows, which has no such modes, the permissions of the
// folder protect the socket.
package controlsocket

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// protocolVersion is the version of the protocol.
const protocolVersion = 1

// Owner identifies the process that owns a folder.
type Owner struct {
	PID     int    `json:"pid"`
	Version string `json:"version"` // of the program
	Command string `json:"command"` // such as "beam serve"
	// Pages is the origin of the owner's pages, or empty if it serves none yet.
	Pages string `json:"pages,omitempty"`
	Root  string `json:"root,omitempty"` // the folder that the owner's tools may read
}

// hello is the first line from a client.
type hello struct {
	Version   int             `json:"beam"`
	Operation string          `json:"want"`
	Args      json.RawMessage `json:"args,omitempty"`
}

// welcome is the first line from the server.
type welcome struct {
	Version int           `json:"beam"`
	Owner   Owner         `json:"owner"`
	Refused *RefusedError `json:"refused,omitempty"`
}

// A RefusedError means that the server refused a request.
type RefusedError struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"` // for people
}

func (e *RefusedError) Error() string { return e.Text }

// Reason is why a server refuses a request.
type Reason string

// Reasons for refusing a request.
const (
	VersionMismatch  Reason = "version" // the server speaks another version of the protocol
	UnknownOperation Reason = "unknown" // the server doesn't know the operation
	Unsupported      Reason = "unfit"   // the server can't do it for this client
	Busy             Reason = "busy"    // the server can't do it now
	Failed           Reason = "failed"
)

// Refusef returns a [RefusedError] with a formatted text.
func Refusef(reason Reason, format string, args ...any) *RefusedError {
	return &RefusedError{reason, fmt.Sprintf(format, args...)}
}

// ErrNoListener means that no process listens in the folder.
var ErrNoListener = errors.New("no process listens in the data folder")

// maxLineBytes is the maximum size of a first line.
const maxLineBytes = 1 << 20

var errBadLine = errors.New("the first line is invalid or too long")

// readLine reads and decodes a first line.
func readLine(r *bufio.Reader, v any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLineBytes {
			return errBadLine
		}
		line = append(line, part...)
		switch {
		case err == nil:
			if json.Unmarshal(line, v) != nil {
				return errBadLine
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

func writeLine(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(raw) >= maxLineBytes {
		return errBadLine
	}
	_, err = w.Write(append(bytes.TrimSpace(raw), '\n'))
	return err
}
