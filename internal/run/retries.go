package run

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/btree"
)

// How long it takes until a run that could not be taken up is tried again: at
// first, and at most.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// An attempt is a run that is to be taken up, after some tries that failed.
type attempt struct {
	*record
	failed int
	due    time.Time // of the next try
}

// wait is how long the next try waits: twice as long as the one before.
func (a *attempt) wait() time.Duration {
	return min(firstWait<<min(a.failed-1, 10), longestWait)
}

// retries are the runs that could not be taken up, with one timer for the next
// try. However many there are, they have no goroutines while they wait.
type retries struct {
	attempts *btree.BTreeG[*attempt]
	timer    *time.Timer
	next     time.Time // when the timer fires; zero if it doesn't
}

func newRetries() retries {
	return retries{attempts: btree.NewG(degree, func(a, b *attempt) bool { return byTurn(a, b) < 0 })}
}

func byTurn(a, b *attempt) int {
	return cmp.Or(a.due.Compare(b.due), strings.Compare(a.id, b.id))
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
		p.enqueue(a)
		return
	}
	a.due = time.Now().Add(a.wait())
	p.later.attempts.ReplaceOrInsert(a)
	p.arm()
}

// arm sets the timer, unless it fires early enough. Callers hold mu.
func (p *replays) arm() {
	first, found := p.later.attempts.Min()
	if !found || !p.later.next.IsZero() && !p.later.next.After(first.due) {
		return
	}
	p.later.next = first.due
	wait := time.Until(first.due)
	if p.later.timer == nil {
		p.later.timer = time.AfterFunc(wait, p.again)
		return
	}
	p.later.timer.Reset(wait)
}

// again queues the runs whose next try is due.
func (p *replays) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.later.next = time.Time{}
	now := time.Now()
	for first, found := p.later.attempts.Min(); found && !first.due.After(now); first, found = p.later.attempts.Min() {
		p.later.attempts.DeleteMin()
		p.enqueue(first)
	}
	p.arm()
}

// hurry queues all runs that wait for their next try: the engine closes, and
// takes none of them up any more.
func (p *replays) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.later.timer != nil {
		p.later.timer.Stop()
	}
	for first, found := p.later.attempts.DeleteMin(); found; first, found = p.later.attempts.DeleteMin() {
		p.enqueue(first)
	}
}
