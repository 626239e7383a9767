package run

import (
	"sync"
	"time"

	"github.com/google/btree"
)

// deadlines are those of all open questions, with one timer for the earliest: a
// timer each would take a quarter of a gigabyte of a million. When many pass at
// once, few questions are withdrawn at a time.
type deadlines struct {
	expiring queue

	mu    sync.Mutex
	asks  *btree.BTreeG[*openAsk] // by due
	timer *time.Timer
}

func newDeadlines() *deadlines {
	return &deadlines{asks: btree.NewG(degree, func(a, b *openAsk) bool {
		if c := a.due.Compare(b.due); c != 0 {
			return c < 0
		}
		return named(a, b) < 0
	})}
}

// add takes in a question, if it has a deadline, which must not change until it
// is removed or has passed.
func (d *deadlines) add(a *openAsk) {
	if a.due.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks.ReplaceOrInsert(a)
	d.arm()
}

// load takes in the questions of runs that were read.
func (d *deadlines) load(runs []*record) {
	for _, r := range runs {
		r.mu.Lock()
		for _, a := range r.asks {
			d.add(a)
		}
		r.mu.Unlock()
	}
}

func (d *deadlines) remove(a *openAsk) {
	if a.due.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.asks.Delete(a); there {
		d.arm()
	}
}

// stop forgets all.
func (d *deadlines) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks.Clear(false)
	d.arm()
}

// arm sets the timer for the earliest deadline. Callers hold mu.
func (d *deadlines) arm() {
	first, found := d.asks.Min()
	switch {
	case !found && d.timer == nil:
	case !found:
		d.timer.Stop()
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(first.due), d.pass)
	default:
		d.timer.Reset(time.Until(first.due))
	}
}

// pass has the questions expire that are due.
func (d *deadlines) pass() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for first, found := d.asks.Min(); found && !first.due.After(now); first, found = d.asks.Min() {
		d.asks.DeleteMin()
		d.expiring.add(func() { first.run.expire(first) })
	}
	d.arm()
}
