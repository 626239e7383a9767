package run

import (
	"context"
	"slices"
	"time"
)

// retain deletes finished runs that are too many or too old, until the engine
// closes.
func (e *Engine) retain() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-e.closing:
			return
		case <-e.ended:
		case <-tick.C:
		}
		e.sweep()
	}
}

// sweepSoon tells retain that a run has ended.
func (e *Engine) sweepSoon() {
	select {
	case e.ended <- struct{}{}:
	default:
	}
}

type finished struct {
	*record
	at time.Time
}

func (e *Engine) sweep() {
	var done []finished
	for _, r := range e.index.all() {
		if at, over := r.endedAt(); over {
			done = append(done, finished{r, at})
		}
	}
	slices.SortFunc(done, func(a, b finished) int { return b.at.Compare(a.at) })
	old := time.Now().Add(-e.limits.KeepFor)
	kept := make(map[string]int) // by owner: nobody's runs push out another's
	for i, r := range done {
		kept[r.owner]++
		if kept[r.owner] > e.limits.KeepFinished || i >= e.limits.KeepAll || r.at.Before(old) {
			e.delete(r.record)
		}
	}
}

// delete forgets a finished run, its log and its files.
func (e *Engine) delete(r *record) {
	r.mu.Lock()
	e.index.remove(r)
	r.mu.Unlock()
	if err := e.log.Delete(context.Background(), r.id); err != nil {
		e.logger.Error("deleting a run's log", "run", r.id, "err", err)
	}
	if err := e.blobs.Delete(r.id); err != nil {
		e.logger.Error("deleting a run's files", "run", r.id, "err", err)
	}
}

func (r *record) endedAt() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended, r.state.Ended()
}
