package retention

import (
	"errors"
	"sync"
	"time"
)

// ErrPaused means that nothing is deleted for now; see [Keeper.Pause].
var ErrPaused = errors.New("a backup is in progress; try again when it has finished")

// deletions are those of runs: one caller deletes at a time, and none while they are paused.
type deletions struct {
	mu     sync.Mutex // held during a deletion
	pauses int
}

// begin begins a deletion, which lasts until end is called, after those in progress. Callers hold
// no run's lock, which those take.
func (d *deletions) begin() (end func(), err error) {
	d.mu.Lock()
	if d.pauses > 0 {
		d.mu.Unlock()
		return nil, ErrPaused
	}
	return d.mu.Unlock, nil
}

// TryBegin begins a deletion, which lasts until end is called. It reports false if another one is
// in progress, or deletions are paused.
func (k *Keeper) TryBegin() (end func(), ok bool) {
	d := &k.deletions
	if !d.mu.TryLock() {
		return nil, false
	}
	if d.pauses > 0 {
		d.mu.Unlock()
		return nil, false
	}
	return d.mu.Unlock, true
}

// Pause keeps all runs, after the deletions in progress, until resume is called.
func (k *Keeper) Pause() (resume func()) {
	add := func(n int) {
		k.deletions.mu.Lock()
		defer k.deletions.mu.Unlock()
		k.deletions.pauses += n
	}
	add(+1)
	return sync.OnceFunc(func() { add(-1) })
}

// promises are how long runs are retained after their ends, by their ids. They end with the
// process. The zero value has none.
type promises struct {
	mu    sync.Mutex
	after map[string]time.Duration
}

func (p *promises) get(run string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.after[run]
}

// Promise keeps a run for a time after its end, at most [MaxPromise], however many other runs
// end.
func (k *Keeper) Promise(run string, after time.Duration) {
	p := &k.promises
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.after == nil {
		p.after = make(map[string]time.Duration)
	}
	p.after[run] = max(p.after[run], min(after, MaxPromise))
}

// Forget forgets the promise for a run that was deleted.
func (k *Keeper) Forget(run string) {
	k.promises.mu.Lock()
	defer k.promises.mu.Unlock()
	delete(k.promises.after, run)
}
