// Package budget bounds what is in use at once: working runs, streams, uploads and disk,
// for each owner and in all.
package budget

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/humanize"
)

// A Limit says how much may be in use at once: Each for one owner, and All for all owners.
// Zero means the default of what is limited.
type Limit struct{ Each, All int64 }

// Or returns l with the members of d in place of zeros.
func (l Limit) Or(d Limit) Limit {
	if l.Each == 0 {
		l.Each = d.Each
	}
	if l.All == 0 {
		l.All = d.All
	}
	return l
}

// A Kind is what a budget is for. Its texts are for people.
type Kind struct {
	Name string // in metrics
	// TooMuch says that there is too much of it, and Advice what to do about that.
	TooMuch, Advice string
	// Bytes means that the budget counts bytes.
	Bytes bool
	// RetryAfter is when trying again makes sense.
	RetryAfter time.Duration
}

// The kinds of budgets.
var (
	Working = Kind{"working_runs", "too many runs are working", "wait until some have ended, or stop some", false, 5 * time.Second}
	Streams = Kind{"streams", "too many streams and calls are open", "close some", false, 10 * time.Second}
	Uploads = Kind{"uploads", "too many uploads are in progress", "wait until some have ended", false, 10 * time.Second}
	Disk    = Kind{"disk_bytes", "files, artifacts and results take too much space", "delete finished runs", true, time.Minute}
)

// ErrExceeded is what every [ExceededError] is, for [errors.Is].
var ErrExceeded = errors.New("a limit is reached")

// An ExceededError says that a budget is used up.
type ExceededError struct {
	Kind
	OfAll bool // of all owners, rather than of one
	Limit int64
}

// Error says for people what is used up, and what to do.
func (e *ExceededError) Error() string {
	limit := humanize.Thousands(int(e.Limit))
	if e.Bytes {
		limit = humanize.Bytes(e.Limit)
	}
	if e.OfAll {
		return fmt.Sprintf("%s on this Beam, which allows %s in all; try again later", e.TooMuch, limit)
	}
	return fmt.Sprintf("%s: one caller may have %s; %s", e.TooMuch, limit, e.Advice)
}

// Is reports whether target is [ErrExceeded].
func (e *ExceededError) Is(target error) bool { return target == ErrExceeded }

// Status returns the status of an HTTP response: 429 if the caller has used up the budget,
// and 503 if all have.
func (e *ExceededError) Status() int {
	if e.OfAll {
		return http.StatusServiceUnavailable
	}
	return http.StatusTooManyRequests
}

// A Budget counts what is in use. Its methods may be called from several goroutines.
//
// Browser sessions that have not signed in cost nothing to make, so that their number is
// no bound. All of them together may use half of what all may.
type Budget struct {
	kind  Kind
	limit Limit

	mu       sync.Mutex
	byOwner  map[string]int64
	sessions int64 // of all browser sessions
	all      int64
	refused  Refusals
	waiting  map[string][]chan struct{} // by owner, first come first served; see TakeInTurn
	waiters  int64                      // of all owners
}

// Refusals count what was refused because an owner, or all, had used up the budget.
type Refusals struct{ Each, All int64 }

// New returns a budget of which nothing is in use.
func New(k Kind, l Limit) *Budget {
	return &Budget{kind: k, limit: l, byOwner: make(map[string]int64), waiting: make(map[string][]chan struct{})}
}

// Take takes n, for an owner. The error is an [*ExceededError], after which nothing is
// taken.
func (b *Budget) Take(owner string, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if exceeded := b.check(owner, n); exceeded != nil {
		return b.refuse(exceeded)
	}
	b.add(owner, n)
	return nil
}

// Add adds n, which may be negative, to what an owner uses, whatever the limits are.
func (b *Budget) Add(owner string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(owner, n)
}

// Acquire takes one for an owner until release is called, which may be called again. The
// error is that of [Budget.Take].
func (b *Budget) Acquire(owner string) (release func(), err error) {
	if err := b.Take(owner, 1); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { b.Add(owner, -1) }), nil
}

func (b *Budget) check(owner string, n int64) *ExceededError {
	if b.byOwner[owner]+n > b.limit.Each {
		return &ExceededError{Kind: b.kind, Limit: b.limit.Each}
	}
	if b.all+n > b.limit.All || callers.IsSession(owner) && b.sessions+n > max(b.limit.All/2, 1) {
		return &ExceededError{Kind: b.kind, OfAll: true, Limit: b.limit.All}
	}
	return nil
}

// refuse counts a refusal and returns its error.
func (b *Budget) refuse(exceeded *ExceededError) error {
	if exceeded.OfAll {
		b.refused.All++
	} else {
		b.refused.Each++
	}
	return exceeded
}

func (b *Budget) add(owner string, n int64) {
	b.all += n
	if callers.IsSession(owner) {
		b.sessions += n
	}
	if b.byOwner[owner] += n; b.byOwner[owner] == 0 {
		delete(b.byOwner, owner)
	}
	if n < 0 {
		b.serveWaiters()
	}
}

// A Usage is the state of a budget.
type Usage struct {
	Name    string
	Used    int64
	Limit   Limit
	Refused Refusals
}

// Usage returns the state of the budget.
func (b *Budget) Usage() Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Usage{b.kind.Name, b.all, b.limit, b.refused}
}

// DefaultStreams is the default limit of streams and calls.
var DefaultStreams = Limit{Each: 1_000, All: 4_000}
