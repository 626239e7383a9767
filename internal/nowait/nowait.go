// Package nowait reads and writes the streams to another process without
// telling the runtime of each system call.
//
// The runtime is told of a system call in case it blocks. It has a thread for
// that, the system monitor, which sleeps while nothing goes on, and the first
// call of a stretch of work wakes it. Where a program does little but answer
// messages, that is up to a third of what it does. A call that can't block need
// not be told of, and one that would block here is made again in the usual way.
//
// The system monitor also interrupts goroutines that compute for long. So that
// it does not sleep meanwhile, calls are told of unless [Pair.Quiet] says
// otherwise.
package nowait

import (
	"io"
	"sync/atomic"
)

// A Pair is what another process says, and what it is told.
type Pair struct {
	In  io.Reader
	Out io.Writer

	quiet atomic.Bool
}

// Quiet has the runtime not told of calls that don't block, or told again. It
// may be switched on only while a timer is set, and set again whenever it rings,
// and after another system call has been made since it was first set: then the
// system monitor sleeps no longer than until it rings. It may be called at any
// time.
func (p *Pair) Quiet(on bool) { p.quiet.Store(on) }
