// Package term is the terminal surface: it follows a run and shows its events, asks its
// questions with forms, or takes prepared answers, and prints the result.
//
// Text from tools, models and upstreams is cleaned of escape sequences, control characters
// and what changes the direction of text before it reaches a terminal; see package
// cleantext. Only this package and render add escape sequences.
package term

import (
	"io"
	"os"

	xterm "golang.org/x/term"
)

// A Terminal is where a person reads and types, if there is one.
type Terminal struct {
	In       *os.File
	Out, Err io.Writer
	// Plain is for screen readers and terminals that can only write lines: nothing is
	// redrawn, and questions are asked line by line.
	Plain bool
	// Color permits colors. The environment decides; see NewTerminal.
	Color bool

	inTTY, outTTY, errTTY bool
}

// NewTerminal returns the terminal of the given streams. $NO_COLOR turns colors off, and
// TERM=dumb selects plain.
func NewTerminal(in *os.File, out, err io.Writer, plain bool) *Terminal {
	t := &Terminal{In: in, Out: out, Err: err, inTTY: IsTerminal(in), outTTY: IsTerminal(out), errTTY: IsTerminal(err)}
	t.Plain = plain || os.Getenv("TERM") == "dumb"
	t.Color = t.errTTY && !t.Plain && os.Getenv("NO_COLOR") == ""
	return t
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && xterm.IsTerminal(int(f.Fd()))
}

// Interactive reports whether a person can be asked.
func (t *Terminal) Interactive() bool { return t.inTTY && t.errTTY }

// OutIsTerminal reports whether the result is read by a person.
func (t *Terminal) OutIsTerminal() bool { return t.outTTY }

// live reports whether lines can be redrawn.
func (t *Terminal) live() bool { return t.errTTY && !t.Plain }

// defaultWidth is the width in columns of what is no terminal.
const defaultWidth = 80

// Width returns the width of the terminal in columns, as it is now.
func (t *Terminal) Width() int {
	for _, stream := range []io.Writer{t.Err, t.Out} {
		if f, ok := stream.(*os.File); ok {
			if w, _, err := xterm.GetSize(int(f.Fd())); err == nil && w > 0 {
				return w
			}
		}
	}
	return defaultWidth
}
