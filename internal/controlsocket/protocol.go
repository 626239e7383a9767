// Package joint is where processes of one user meet over a data folder: the
// process that owns the folder listens on a socket in it, and others have it
// serve them instead of opening the folder themselves.
//
// A connection begins with a line of JSON from each side. The joiner's says
// which version of this protocol it speaks and what it wants, the owner's who it
// is and whether it does that. What follows belongs to what was wanted. The
// lines keep their first member in all versions, so that two versions can tell
// each other that they are.
//
// The folder is its user's alone (mode 0700), and so is the socket (0600): who
// can open it can read the folder, and needs no other authority. On Windows,
// which has no such modes, what protects the folder protects the socket.
package controlsocket

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ProtocolVersion is the version of the protocol.
const ProtocolVersion = 1

// Owner is who a process is that owns a folder.
type Owner struct {
	PID     int    `json:"pid"`
	Version string `json:"version"` // of the program
	Command string `json:"command"` // beam serve, beam stdio
	// Pages is the origin of its pages; empty if none are served yet.
	Pages string `json:"pages,omitempty"`
	Root  string `json:"root,omitempty"` // the folder that its tools may read
}

// hello is a joiner's first line.
type hello struct {
	Version   int             `json:"beam"`
	Operation string          `json:"want"`
	Args      json.RawMessage `json:"args,omitempty"`
}

// welcome is the owner's.
type welcome struct {
	Version int           `json:"beam"`
	Owner   Owner         `json:"owner"`
	Refused *RefusedError `json:"refused,omitempty"`
}

// A RefusedError is the owner's no.
type RefusedError struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"` // for people
}

func (e *RefusedError) Error() string { return e.Text }

// Reason is why an owner refuses.
type Reason string

// The reasons.
const (
	VersionMismatch  Reason = "version" // it speaks another version of the protocol
	UnknownOperation Reason = "unknown" // it doesn't know what is wanted
	Unsupported      Reason = "unfit"   // it can't do it for this joiner
	Busy             Reason = "busy"    // it can't do it now
	Failed           Reason = "failed"
)

// Refusef makes a refusal.
func Refusef(reason Reason, format string, args ...any) *RefusedError {
	return &RefusedError{reason, fmt.Sprintf(format, args...)}
}

// ErrNoListener: nobody listens in the folder.
var ErrNoListener = errors.New("nobody listens in the data folder")

// maxLineBytes bounds a first line, in bytes.
const maxLineBytes = 1 << 20

var errBadLine = errors.New("the first line is too long, or none")

// readLine reads a first line and decodes it.
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
