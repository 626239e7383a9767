package engine

import "context"

// markInactive excludes an unfinished run from the working runs for good, because
// it can't continue in this process. Callers hold r.mu.
func (x *index) markInactive(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.inactive {
		return
	}
	r.inactive = true
	if r.state == Running {
		x.workingRuns--
	}
	x.notifyIdle()
}

// notifyIdle wakes waitIdle if no run is working. Callers hold mu.
func (x *index) notifyIdle() {
	if x.workingRuns == 0 && x.allIdle != nil {
		close(x.allIdle)
		x.allIdle = nil
	}
}

// waitIdle waits until no run is working or ctx ends.
func (x *index) waitIdle(ctx context.Context) {
	x.mu.Lock()
	if x.workingRuns == 0 {
		x.mu.Unlock()
		return
	}
	if x.allIdle == nil {
		x.allIdle = make(chan struct{})
	}
	idle := x.allIdle
	x.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
