//go:build !linux

package nowait

import (
	"io"
	"os"
)

// Open returns the streams in and out as a pair, which tells the runtime of all
// calls on this system. The pair must be closed.
func Open(in *os.File, out io.Writer) *Pair { return &Pair{In: in, Out: out} }

// Close closes what Open opened.
func (p *Pair) Close() error { return nil }
