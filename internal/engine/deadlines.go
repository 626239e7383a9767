package engine

import (
	"cmp"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/google/btree"
	"github.com/photon-beam/beam/internal/runlog"
)

// A deadline is when a question expires or a sleep ends. It is part of an openAsk or a
// sleep, and guarded by the run's mu.
type deadline struct {
	run *trackedRun
	seq uint64 // of the question or the sleep
	// due is the recorded time or, if what is due could not be recorded then, the time of
	// the next attempt; zero if there is no deadline.
	due time.Time
}

// deadlines expire open questions and end sleeps. There is one timer, for the earliest
// deadline: a timer for each of a million questions would take a quarter of a gigabyte.
// If many deadlines pass at once, few are handled at a time. The methods may be called
// from several goroutines.
type deadlines struct {
	passed queue

	mu    sync.Mutex
	byDue *btree.BTreeG[*deadline]
	timer *time.Timer
}

func newDeadlines() *deadlines {
	return &deadlines{byDue: btree.NewG(btreeDegree, func(a, b *deadline) bool {
		if c := a.due.Compare(b.due); c != 0 {
			return c < 0
		}
		return cmp.Or(strings.Compare(a.run.id, b.run.id), cmp.Compare(a.seq, b.seq)) < 0
	})}
}

// schedule adds a deadline unless it is zero. It must not change until it has passed or
// been canceled.
func (d *deadlines) schedule(l *deadline) {
	if l.due.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDue.ReplaceOrInsert(l)
	d.setTimer()
}

// scheduleAll adds the deadlines of runs that were read from the log.
func (d *deadlines) scheduleAll(runs []*trackedRun) {
	for _, r := range runs {
		r.mu.Lock()
		for _, a := range r.openAsks {
			d.schedule(&a.deadline)
		}
		for _, s := range r.sleeps {
			d.schedule(&s.deadline)
		}
		r.mu.Unlock()
	}
}

// cancel removes a deadline.
func (d *deadlines) cancel(l *deadline) {
	if l.due.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, found := d.byDue.Delete(l); found {
		d.setTimer()
	}
}

// stop removes all deadlines.
func (d *deadlines) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDue.Clear(false)
	d.setTimer()
}

// maxTimerDelay bounds the delay of the timer, because a timer stands still while the
// machine is suspended, and the time doesn't.
const maxTimerDelay = time.Minute

// setTimer sets the timer for the earliest deadline. Callers hold mu.
func (d *deadlines) setTimer() {
	first, found := d.byDue.Min()
	if !found {
		if d.timer != nil {
			d.timer.Stop()
		}
		return
	}
	delay := min(time.Until(first.due), maxTimerDelay)
	if d.timer == nil {
		d.timer = time.AfterFunc(delay, d.handlePassed)
	} else {
		d.timer.Reset(delay)
	}
}

// handlePassed queues what is due.
func (d *deadlines) handlePassed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for first, found := d.byDue.Min(); found && !first.due.After(now); first, found = d.byDue.Min() {
		d.byDue.DeleteMin()
		d.passed.add(func() { first.run.handleDeadline(first) })
	}
	d.setTimer()
}

// handleDeadline expires the question or ends the sleep of a deadline that has passed,
// unless that has been settled in the meantime.
func (r *trackedRun) handleDeadline(l *deadline) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.ctx.Err() != nil {
		return
	}
	if a := r.findOpenAsk(l.seq); a != nil && &a.deadline == l {
		r.expireAsk(a)
	} else if s := r.findSleep(l.seq); s != nil && &s.deadline == l {
		r.endSleep(s)
	}
}

// expireAsk withdraws a question whose deadline has passed. Callers hold mu.
func (r *trackedRun) expireAsk(a *openAsk) {
	ctx := r.engine.ctx
	err := r.recordSettlement(ctx, a.seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.seq, Reason: runlog.Expired}))
	if err == nil || errors.Is(err, ErrSettled) || ctx.Err() != nil {
		return
	}
	r.engine.logger.Error("withdrawing an expired question", "run", r.id, "err", err)
	if r.findOpenAsk(a.seq) == a {
		a.due, a.callIsCurrent = time.Now().Add(maxRetryWait), false
		r.engine.deadlines.schedule(&a.deadline)
	}
}

// deadlineAfter returns the deadline of a question that is asked now; zero if the
// question doesn't expire.
func deadlineAfter(timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}
