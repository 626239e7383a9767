package engine

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

	mu         sync.Mutex
	byDeadline *btree.BTreeG[*openAsk] // by due
	timer      *time.Timer
}

func newDeadlines() *deadlines {
	return &deadlines{byDeadline: btree.NewG(btreeDegree, func(a, b *openAsk) bool {
		if c := a.expiresAt.Compare(b.expiresAt); c != 0 {
			return c < 0
		}
		return compareAskID(a, b) < 0
	})}
}

// scheduleExpiry takes in a question, if it has a deadline, which must not change until it
// is removed or has passed.
func (d *deadlines) scheduleExpiry(a *openAsk) {
	if a.expiresAt.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDeadline.ReplaceOrInsert(a)
	d.setTimer()
}

// scheduleAll takes in the questions of runs that were read.
func (d *deadlines) scheduleAll(runs []*trackedRun) {
	for _, r := range runs {
		r.mu.Lock()
		for _, a := range r.openAsks {
			d.scheduleExpiry(a)
		}
		r.mu.Unlock()
	}
}

func (d *deadlines) cancelExpiry(a *openAsk) {
	if a.expiresAt.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.byDeadline.Delete(a); there {
		d.setTimer()
	}
}

// stop forgets all.
func (d *deadlines) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDeadline.Clear(false)
	d.setTimer()
}

// setTimer sets the timer for the earliest deadline. Callers hold mu.
func (d *deadlines) setTimer() {
	first, found := d.byDeadline.Min()
	switch {
	case !found && d.timer == nil:
	case !found:
		d.timer.Stop()
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(first.expiresAt), d.expireDue)
	default:
		d.timer.Reset(time.Until(first.expiresAt))
	}
}

// expireDue has the questions expire that are due.
func (d *deadlines) expireDue() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for first, found := d.byDeadline.Min(); found && !first.expiresAt.After(now); first, found = d.byDeadline.Min() {
		d.byDeadline.DeleteMin()
		d.expiring.add(func() { first.run.expireAsk(first) })
	}
	d.setTimer()
}
