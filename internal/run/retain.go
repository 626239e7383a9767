package run

import (
	"context"
	"slices"
	"time"
)

// rush is how many times KeepAll finished runs may be kept within KeepLeast.
const rush = 10

// retain deletes finished runs that are too many or too old, until the engine
// closes. It looks now and then and not when a run ends: no run is too many
// before KeepLeast has passed, unless runs end in a rush. So what memory holds
// beyond KeepFinished is what ended within KeepLeast and a quarter of it, at
// most rush times KeepAll, and what somebody reads.
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
// [Request.Keep].
const MaxKeep = time.Hour

type finished struct {
	*record
	at    time.Time
	until time.Time // it is kept at least
}

func (e *Engine) sweep() {
	var done []finished
	for _, r := range e.index.all() {
		if at, until, over := r.endedAt(); over {
			done = append(done, finished{r, at, until})
		}
	}
	slices.SortFunc(done, func(a, b finished) int { return b.at.Compare(a.at) })
	now := time.Now()
	kept := make(map[string]int) // by owner: nobody's runs push out another's
	for i, r := range done {
		kept[r.owner]++
		age := now.Sub(r.at)
		// Who started the run may still be about to read how it ended.
		tooMany := kept[r.owner] > e.limits.KeepFinished || i >= e.limits.KeepAll
		tooMany = tooMany && !now.Before(r.until) || i >= rush*e.limits.KeepAll
		if (tooMany || age > e.limits.KeepFor) && r.readers.Load() == 0 {
			e.delete(r.record)
		}
	}
}

// delete forgets a finished run, its log and its files.
func (e *Engine) delete(r *record) {
	r.mu.Lock()
	e.index.remove(r)
	r.wake() // whoever waits for another entry finds the run gone
	r.mu.Unlock()
	if err := e.log.Delete(context.Background(), r.id); err != nil {
		e.logger.Error("deleting a run's log", "run", r.id, "err", err)
	}
	if err := e.blobs.Delete(r.id); err != nil {
		e.logger.Error("deleting a run's files", "run", r.id, "err", err)
	}
}

func (r *record) endedAt() (at, until time.Time, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended, r.keptUntil(), r.state.Ended()
}

// keptUntil is what [Info.KeptUntil] says. Callers hold mu.
func (r *record) keptUntil() time.Time {
	if !r.state.Ended() {
		return time.Time{}
	}
	least := r.ended.Add(r.engine.limits.KeepLeast)
	if promised := r.born.Add(time.Duration(r.started.Keep)); promised.After(least) {
		least = promised
	}
	if most := r.ended.Add(r.engine.limits.KeepFor); least.After(most) {
		return most
	}
	return least
}
