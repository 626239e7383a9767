package run

import (
	"sync"
	"time"
)

// How long it takes until a run that could not be taken up is tried again: at
// first, and at most.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// replays are the runs that are to be taken up again. However many are answered
// at once, few are read back at a time.
type replays struct {
	queue queue
	mu    sync.Mutex
	later map[*attempt]*time.Timer // those that wait for their next try
}

// An attempt is a run that is to be taken up, after some tries that failed.
type attempt struct {
	*record
	failed int
}

// wait is how long the next try waits: twice as long as the one before.
func (a *attempt) wait() time.Duration {
	return min(firstWait<<min(a.failed-1, 10), longestWait)
}

// rouse has a run taken up again soon. Callers hold mu.
func (r *record) rouse() {
	r.waking = true
	r.engine.replays.try(&attempt{record: r})
}

func (p *replays) try(a *attempt) {
	p.queue.add(func() {
		if err := a.takeUp(); err != nil {
			p.retry(a, err)
		}
	})
}

// retry has a run tried again that could not be taken up. What can't be read or
// written now may be later: it is tried until the engine closes, and the next
// process takes the run up. Tries that fail are logged ever more seldom.
func (p *replays) retry(a *attempt, err error) {
	e := a.engine
	a.failed++
	if a.failed&(a.failed-1) == 0 && e.taking.Err() == nil {
		e.logger.Error("taking a run up again; it is tried anew", "run", a.id, "try", a.failed, "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.taking.Err() != nil {
		p.try(a)
		return
	}
	p.later[a] = time.AfterFunc(a.wait(), func() { p.again(a) })
}

// again makes the next try.
func (p *replays) again(a *attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.later, a)
	p.try(a)
}

// hurry tries all runs that wait for their next try: the engine closes, and
// takes none of them up any more.
func (p *replays) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a, t := range p.later {
		if t.Stop() {
			delete(p.later, a)
			p.try(a)
		}
	}
}
