package schedule

import (
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/runlist"
)

// Deadlines handle the runs with a deadline or a sleep when they are due, as their rows say. If
// many are due at once, few are handled at a time. The methods may be called from several
// goroutines.
type Deadlines struct {
	rows   func() iter.Seq2[*runlist.Row, error]
	handle func(run string, now time.Time) (retryAfter time.Duration)
	logger *slog.Logger
	passed Queue
	// Shared means that other processes set deadlines, too. Set it before Start.
	Shared bool

	mu     sync.Mutex  // guards what follows
	timer  *time.Timer // nil before Start
	next   time.Time   // when the timer fires; zero while what is due is being handled
	noted  time.Time   // the first that was noted meanwhile
	closed bool
}

// NewDeadlines returns the deadlines of the runs that rows yields, the first to be due first.
// handle handles those of a run; 0 means that there is no need to try that again.
func NewDeadlines(rows func() iter.Seq2[*runlist.Row, error], handle func(run string, now time.Time) (retryAfter time.Duration), logger *slog.Logger) *Deadlines {
	return &Deadlines{rows: rows, handle: handle, logger: logger}
}

const (
	// maxTimerDelay bounds the delay of the timer, because a timer stands still while the
	// machine is suspended, and the time doesn't.
	maxTimerDelay = time.Minute
	// maxSharedDelay bounds it because a process may have ended that noted a deadline.
	maxSharedDelay = 5 * time.Second
	// retryAfter is the time until rows are read again that could not be read.
	retryAfter = time.Second
)

// Start begins to handle what is due.
func (d *Deadlines) Start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer == nil && !d.closed {
		d.timer = time.AfterFunc(0, d.handleDue)
	}
}

// Stop ends that.
func (d *Deadlines) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// Note notes that something has become due at a time; zero means never.
func (d *Deadlines) Note(due time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case due.IsZero() || d.closed:
	case d.timer == nil: // Start reads the rows
	case d.next.IsZero():
		d.noted = Earliest(d.noted, due)
	case due.Before(d.next):
		d.setTimer(due)
	}
}

func (d *Deadlines) maxDelay() time.Duration {
	if d.Shared {
		return maxSharedDelay
	}
	return maxTimerDelay
}

// setTimer sets the timer for a time. Only callers that hold mu call it.
func (d *Deadlines) setTimer(at time.Time) {
	d.next = at
	d.timer.Reset(min(max(time.Until(at), 0), d.maxDelay()))
}

// Earliest returns the earlier of two times, of which a may be zero for none.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// handleDue handles what is due, and sets the timer for what will be due next.
func (d *Deadlines) handleDue() {
	d.mu.Lock()
	d.next, d.noted = time.Time{}, time.Time{}
	d.mu.Unlock()
	next, err := d.handleRuns(time.Now())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return // and the store may be, too
	}
	if err != nil {
		d.logger.Error("finding out what is due", "err", err)
		next = time.Now().Add(retryAfter)
	}
	d.setTimer(Earliest(d.noted, next))
}

// handleRuns handles what is due at a time, and returns when it is to be called again.
func (d *Deadlines) handleRuns(now time.Time) (next time.Time, err error) {
	next = now.Add(d.maxDelay())
	upcoming := next
	var handling sync.WaitGroup
	var mu sync.Mutex // guards next
	for row, rowErr := range d.rows() {
		if err = rowErr; err != nil {
			break
		}
		if due := row.Due(); due.After(now) {
			upcoming = Earliest(upcoming, due)
			break
		}
		handling.Add(1)
		d.passed.Add(func() {
			defer handling.Done()
			if wait := d.handle(row.ID, now); wait > 0 {
				mu.Lock()
				defer mu.Unlock()
				next = Earliest(next, time.Now().Add(wait))
			}
		})
	}
	handling.Wait()
	return Earliest(next, upcoming), err
}
