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

// Quiet has the runtime not told of calls that don't block, or told again. Only
// while a timer goes that is set anew whenever it rings may it be on: the system
// monitor sleeps until the next timer at most. The monitor learns of the timer only
// when it is awake, so switch it on first when the timer has rung once, after some
// call that the runtime was told of. It may be called at any time.
func (p *Pair) Quiet(on bool) { p.quiet.Store(on) }
