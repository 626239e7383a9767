package run

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// rush is how many times KeepAll finished runs may be kept within KeepLeast.
const rush = 10

// retain deletes finished runs that are too many or too old, until the engine
// closes. It looks now and then and not when a run ends: no run is too many
// before KeepLeast has passed, unless runs end in a rush. So what memory holds
// beyond KeepFinished is what ended within KeepLeast and a quarter of it, or is
// promised to be kept, at most rush times KeepAll, and what somebody reads.
func (e *Engine) retain() {
	tick := time.NewTicker(min(max(e.limits.KeepLeast/4, time.Second), time.Minute))
	defer tick.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-tick.C:
		}
		e.sweep()
	}
}

// MaxKeep bounds the time that a run can be promised to be kept; see
// [Request.Keep] and [Engine.Promise].
const MaxKeep = time.Hour

// Promise has a run kept for so long after its end, at most [MaxKeep], however
// many others end: somebody was given its id and comes back for the result. The
// log doesn't have it: after a restart it is to be promised again. The error is
// ErrNotFound or ErrForbidden.
func (e *Engine) Promise(who Caller, id string, after time.Duration) error {
	r, err := e.find(who, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.brief == nil {
		r.brief = &brief{moved: time.Now()}
	}
	r.brief.after = max(r.brief.after, min(after, MaxKeep))
	return nil
}

type finished struct {
	*record
	at    time.Time
	until time.Time // it is kept at least
}

func (e *Engine) sweep() {
	if !e.deleting.TryLock() {
		return // the next look comes soon
	}
	defer e.deleting.Unlock()
	var done []finished
	for _, r := range e.index.over() {
		at, until := r.endedAt()
		done = append(done, finished{r, at, until})
	}
	slices.SortFunc(done, func(a, b finished) int { return b.at.Compare(a.at) })
	now := time.Now()
	kept := make(map[string]int) // by owner: nobody's runs push out another's
	var bytes int64
	for i, r := range done {
		kept[r.owner()]++
		age := now.Sub(r.at)
		// Who started the run may still be about to read how it ended.
		bytes += e.weigh(r.record)
		tooMany := kept[r.owner()] > e.limits.KeepFinished || i >= e.limits.KeepAll || bytes > e.limits.KeepBytes && e.limits.KeepBytes > 0
		tooMany = tooMany && !now.Before(r.until) || i >= rush*e.limits.KeepAll
		if (tooMany || age > e.limits.KeepFor) && r.readers.Load() == 0 {
			if err := e.delete(r.record); err != nil {
				e.logger.Error("deleting runs", "err", err)
				return // the next look comes soon
			}
		}
	}
}

// weigh is a run's size, if it matters.
func (e *Engine) weigh(r *record) int64 {
	if e.limits.KeepBytes <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size, err := r.size()
	if err != nil {
		e.logger.Error("looking how much a run takes", "run", r.id, "err", err)
	}
	return size
}

// delete forgets a finished run, its log and its files. With its log, all of it
// stays.
func (e *Engine) delete(r *record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := e.log.Delete(context.Background(), r.id); err != nil {
		return fmt.Errorf("deleting the log of run %s: %w", r.id, err)
	}
	e.index.remove(r)
	r.wake() // whoever waits for another entry finds the run gone
	if err := e.blobs.Delete(r.id); err != nil {
		e.logger.Error("deleting a run's files", "run", r.id, "err", err)
	}
	return nil
}

// endedAt is when the run ended, and until when it is kept at least.
func (r *record) endedAt() (at, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended, r.keptUntil()
}

// keptUntil is what [Info.KeptUntil] says of a run that has ended. Callers hold
// mu.
func (r *record) keptUntil() time.Time {
	least := r.ended.Add(r.engine.limits.KeepLeast)
	if r.brief != nil {
		least = r.ended.Add(max(r.engine.limits.KeepLeast, r.brief.after))
		if promised := r.born.Add(r.brief.keep); promised.After(least) {
			least = promised
		}
	}
	if most := r.ended.Add(r.engine.limits.KeepFor); least.After(most) {
		return most
	}
	return least
}
