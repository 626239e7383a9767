package run

import "sync"

// atOnce is how many runs are taken up again, or have a deadline pass, at the
// same time.
const atOnce = 32

// replays are the runs that are to be taken up again. However many are answered
// at once, few are read back at a time, and those that wait for it have no
// goroutines.
type replays struct {
	mu      sync.Mutex
	queue   []*record
	working int
}

// rouse has a run taken up again soon. Callers hold mu.
func (r *record) rouse() {
	r.waking = true
	p := &r.engine.replays
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, r)
	if p.working < atOnce {
		p.working++
		go p.work()
	}
}

func (p *replays) work() {
	for r := p.next(); r != nil; r = p.next() {
		if err := r.takeUp(); err != nil {
			go r.retry(err) // its turn is over, so that others that can go on do
		}
	}
}

// next is nil when there is nothing left, and the caller then works no more.
func (p *replays) next() *record {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.queue = nil
		p.working--
		return nil
	}
	r := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	return r
}
