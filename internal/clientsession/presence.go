package clientsession

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// AbsenceGrace is how long a client may be disconnected, as between two streams of one
// call, before it counts as gone.
const AbsenceGrace = 10 * time.Second

// A Presence tells whether the client of a call is connected: whether a stream to it is
// open. The zero value is that of a client without one. Its methods may be called from
// several goroutines.
type Presence struct {
	Grace time.Duration // instead of [AbsenceGrace], unless it is 0

	mu      sync.Mutex
	streams int
	changed chan struct{} // closed when streams changes; nil while nobody waits
}

// Enter says that a stream to the client is open.
func (p *Presence) Enter() { p.add(1) }

// Leave says that a stream to the client has ended.
func (p *Presence) Leave() { p.add(-1) }

func (p *Presence) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams += n
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// state reports whether a stream is open. The channel is closed when that may change.
func (p *Presence) state() (isOpen bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.streams > 0, p.changed
}

// AwaitAbsence waits until the client has been disconnected for [AbsenceGrace], and reports
// true; or until ctx ends, and reports false. A nil presence never ends.
func (p *Presence) AwaitAbsence(ctx context.Context) bool {
	if p == nil {
		<-ctx.Done()
		return false
	}
	for {
		isOpen, changed := p.state()
		var absent <-chan time.Time
		if !isOpen {
			absent = time.After(cmp.Or(p.Grace, AbsenceGrace))
		}
		select {
		case <-changed:
		case <-absent:
			return true
		case <-ctx.Done():
			return false
		}
	}
}
