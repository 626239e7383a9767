package run

import (
	"sync"
	"time"

	"github.com/google/btree"
)

// deadlines are those of all open questions, with one timer for the earliest.
type deadlines struct {
	mu    sync.Mutex
	asks  *btree.BTreeG[*openAsk]
	timer *time.Timer
	next  time.Time // when the timer fires; zero if it doesn't
	// passing is true while some do: the timer is set when they have.
	passing, stopped bool
}

func newDeadlines() *deadlines {
	return &deadlines{asks: btree.NewG(degree, func(a, b *openAsk) bool { return byDue(a, b) < 0 })}
}

func byDue(a, b *openAsk) int {
	if c := a.due.Compare(b.due); c != 0 {
		return c
	}
	return named(a, b)
}

// add takes in a question that has a deadline. Its due must not change until it
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

// remove forgets a question. The timer may fire for nothing.
func (d *deadlines) remove(a *openAsk) {
	if a.due.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped { // a million needn't be taken out at the end
		d.asks.Delete(a)
	}
}

// stop lets no more deadlines pass.
func (d *deadlines) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// arm sets the timer, unless it fires early enough. Callers hold mu.
func (d *deadlines) arm() {
	first, found := d.asks.Min()
	if !found || d.stopped || d.passing || !d.next.IsZero() && !d.next.After(first.due) {
		return
	}
	d.next = first.due
	wait := time.Until(d.next)
	if d.timer == nil {
		d.timer = time.AfterFunc(wait, d.pass)
		return
	}
	d.timer.Reset(wait)
}

// pass has expire what is due.
func (d *deadlines) pass() {
	for due := d.due(); len(due) > 0; due = d.due() {
		var all sync.WaitGroup
		for _, a := range due {
			all.Go(func() { a.run.expire(a) })
		}
		all.Wait()
	}
}

// due takes out some questions whose time has come. If there are none, it sets
// the timer.
func (d *deadlines) due() []*openAsk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next, d.passing = time.Time{}, true
	now := time.Now()
	var due []*openAsk
	for len(due) < atOnce && !d.stopped {
		first, found := d.asks.Min()
		if !found || first.due.After(now) {
			break
		}
		d.asks.DeleteMin()
		due = append(due, first)
	}
	if len(due) == 0 {
		d.passing = false
		d.arm()
	}
	return due
}
