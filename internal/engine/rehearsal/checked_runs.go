package rehearsal

import "sync"

// checkedRuns has the runs that were found to fit this program, or not, and the epochs of their
// latest claims: what is recorded until the next claim changes nothing. The methods may be called
// from several goroutines.
type checkedRuns struct {
	mu     sync.Mutex
	epochs map[string]int // by the runs' ids
}

// maxChecked bounds checkedRuns. A run that was forgotten is checked again.
const maxChecked = 100_000

// add adds a run, with the epoch of its latest claim.
func (c *checkedRuns) add(run string, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epochs == nil || len(c.epochs) >= maxChecked {
		c.epochs = make(map[string]int)
	}
	c.epochs[run] = epoch
}

// has reports whether a run was found to fit or not, with its latest claim.
func (c *checkedRuns) has(run string, epoch int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	checked, ok := c.epochs[run]
	return ok && checked == epoch
}
