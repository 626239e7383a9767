package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/google/btree"
	"github.com/photon-beam/beam/internal/runlog"
)

// askDeadlines expires open questions. It has one timer, for the earliest deadline:
// a timer for each of a million questions would take a quarter of a gigabyte.
// If many deadlines pass at once, few questions are withdrawn at a time. Its
// methods may be called from several goroutines.
type askDeadlines struct {
	expiring queue

	mu         sync.Mutex
	byDeadline *btree.BTreeG[*openAsk] // by expiresAt
	timer      *time.Timer
}

func newAskDeadlines() *askDeadlines {
	return &askDeadlines{byDeadline: btree.NewG(btreeDegree, func(a, b *openAsk) bool {
		if c := a.expiresAt.Compare(b.expiresAt); c != 0 {
			return c < 0
		}
		return compareAskID(a, b) < 0
	})}
}

// scheduleExpiry adds a question if it has a deadline. The deadline must not change
// until it has passed or been canceled.
func (d *askDeadlines) scheduleExpiry(a *openAsk) {
	if a.expiresAt.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDeadline.ReplaceOrInsert(a)
	d.setTimer()
}

// scheduleAll adds the open questions of runs that were read from the log.
func (d *askDeadlines) scheduleAll(runs []*trackedRun) {
	for _, r := range runs {
		r.mu.Lock()
		for _, a := range r.openAsks {
			d.scheduleExpiry(a)
		}
		r.mu.Unlock()
	}
}

// cancelExpiry removes a question.
func (d *askDeadlines) cancelExpiry(a *openAsk) {
	if a.expiresAt.IsZero() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, found := d.byDeadline.Delete(a); found {
		d.setTimer()
	}
}

// stop removes all questions.
func (d *askDeadlines) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byDeadline.Clear(false)
	d.setTimer()
}

// setTimer sets the timer for the earliest deadline. Callers hold mu.
func (d *askDeadlines) setTimer() {
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

// expireDue queues the expiry of the questions whose deadline has passed.
func (d *askDeadlines) expireDue() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for first, found := d.byDeadline.Min(); found && !first.expiresAt.After(now); first, found = d.byDeadline.Min() {
		d.byDeadline.DeleteMin()
		d.expiring.add(func() { first.run.expireAsk(first) })
	}
	d.setTimer()
}

// expireAsk withdraws a question whose deadline has passed.
func (r *trackedRun) expireAsk(a *openAsk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := r.engine.ctx
	if r.findOpenAsk(a.seq) != a || ctx.Err() != nil {
		return
	}
	err := r.recordSettlement(ctx, a.seq, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.seq, Reason: runlog.Expired}))
	if err == nil || errors.Is(err, ErrSettled) || ctx.Err() != nil {
		return
	}
	r.engine.logger.Error("withdrawing an expired question", "run", r.id, "err", err)
	if r.findOpenAsk(a.seq) == a {
		a.expiresAt, a.callIsCurrent = time.Now().Add(maxRetryWait), false
		r.engine.askDeadlines.scheduleExpiry(a)
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
