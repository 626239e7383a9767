package run

import "sync"

// atOnce is how many runs are taken up again, or have a deadline pass, at the
// same time.
const atOnce = 32

// replays are the runs that are to be taken up again. However many are answered
// at once, few are read back at a time, and those that wait for it have no
// goroutines, nor have those that wait for another try.
type replays struct {
	mu      sync.Mutex
	queue   []*attempt
	working int
	later   retries
}

// rouse has a run taken up again soon. Callers hold mu.
func (r *record) rouse() {
	r.waking = true
	p := &r.engine.replays
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enqueue(&attempt{record: r})
}

// enqueue has a try made when its turn has come. Callers hold mu.
func (p *replays) enqueue(a *attempt) {
	p.queue = append(p.queue, a)
	if p.working < atOnce {
		p.working++
		go p.work()
	}
}

func (p *replays) work() {
	for a := p.next(); a != nil; a = p.next() {
		if err := a.takeUp(); err != nil {
			p.retry(a, err) // its turn is over, so that others that can go on do
		}
	}
}

// next is nil when there is nothing left, and the caller then works no more.
func (p *replays) next() *attempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.queue = nil
		p.working--
		return nil
	}
	a := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	return a
}
