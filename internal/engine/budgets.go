package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/photon-beam/beam/internal/budget"
)

// Budgets returns the budgets that the engine keeps, for metrics.
func (e *Engine) Budgets() []*budget.Budget {
	return []*budget.Budget{e.index.working, e.uploads, e.disk}
}

// recount counts a run among those of its owner that work, or no longer: if it is running
// and active, or was stopped while its generator has yet to return. Callers hold the
// index's mu.
func (x *index) recount(r *trackedRun) {
	works := r.State == Running && !r.inactive && x.byID[r.id] == r || r.returning
	if works == r.counted {
		return
	}
	r.counted = works
	n := int64(1)
	if !works {
		n = -1
	}
	x.working.Add(r.owner(), n)
}

// uncount uncounts a run until recount is called. Callers hold the index's mu.
func (x *index) uncount(r *trackedRun) {
	if r.counted {
		r.counted = false
		x.working.Add(r.owner(), -1)
	}
}

// setReturning notes that a stopped run has yet to return, or has returned.
func (x *index) setReturning(r *trackedRun, returning bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r.returning = returning
	x.recount(r)
}

// ErrMustWait means that a run's owner has as many working runs as may be; see
// [WithoutWaiting].
var ErrMustWait = errors.New("the run must wait for its turn to work")

type maxWaitKey struct{}

// TurnWait is how long surfaces let a start or an answer wait for its turn.
const TurnWait = 2 * time.Second

// WithMaxWait returns a context with which [Engine.Start] and [Engine.AnswerShown] wait for up
// to d if too many runs of the owner work. Without it they don't wait.
func WithMaxWait(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, maxWaitKey{}, d)
}

// WithoutWaiting returns a context with which [Engine.Start] and [Engine.AnswerShown] return
// [ErrMustWait] if too many runs of the owner work, which doesn't count as a refusal. It is
// for who reads messages one after the other, as MCP over stdio does, and tries again
// elsewhere.
func WithoutWaiting(ctx context.Context) context.Context { return WithMaxWait(ctx, -1) }

// inTurn calls try, which lets a run work, with an empty owner. If it returns ErrMustWait,
// inTurn waits for the turn of the run's owner, and calls it again with that owner, from whose
// budget one was taken; try counts the run as that one, or gives it back. The error is that
// of try, or a [*budget.ExceededError].
func (x *index) inTurn(ctx context.Context, r *trackedRun, try func(takenFrom string) error) error {
	err := try("")
	maxWait, _ := ctx.Value(maxWaitKey{}).(time.Duration)
	for errors.Is(err, ErrMustWait) && maxWait >= 0 { // again only if the run has another owner by then
		owner := r.owner()
		if err := x.working.TakeInTurn(ctx, owner, maxWait); err != nil {
			return err
		}
		err = try(owner)
	}
	return err
}

// countTaken counts a run as the one that was taken from an owner's budget, if any, until
// recountNow is called.
func (x *index) countTaken(r *trackedRun, owner string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case owner == "":
	case r.counted || r.owner() != owner: // another caller has adopted the run in the meantime
		x.working.Add(owner, -1)
	default:
		r.counted = true
	}
}

// countAhead counts a run as working that an answer would let work, until recountNow is
// called. It reports whether its owner may have one more. Callers hold r.mu.
func (x *index) countAhead(r *trackedRun) bool {
	if r.State != Waiting || len(r.openAsks) > 1 || len(r.sleeps) > 0 {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r.counted = r.counted || x.working.TryTake(r.owner())
	return r.counted
}

// recountNow is recount for callers that don't hold the index's mu.
func (x *index) recountNow(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.recount(r)
}

// storeBytes puts content in the blob store, whose disk the run's owner must have left.
// The error may be a [*budget.ExceededError]. Callers count the blob with addBlobRef.
func (r *trackedRun) storeBytes(content []byte) (digest string, size int64, err error) {
	n := int64(len(content))
	if err := r.engine.disk.Take(r.owner(), n); err != nil {
		return "", 0, err
	}
	defer r.engine.disk.Add(r.owner(), -n) // addBlobRef counts it
	return r.engine.blobs.Put(r.engine.ctx, r.id, bytes.NewReader(content))
}

// A diskReader takes disk of an owner's budget for what is read, before it is read.
type diskReader struct {
	io.Reader
	disk        *budget.Budget
	owner       string
	taken, read int64
}

// diskStep is how many bytes a diskReader takes at once.
const diskStep = 1 << 20

// Read implements [io.Reader]. The error may be a [*budget.ExceededError].
func (d *diskReader) Read(p []byte) (int, error) {
	if d.read+int64(len(p)) > d.taken {
		step := max(diskStep, int64(len(p)))
		if err := d.disk.Take(d.owner, step); err != nil {
			return 0, err
		}
		d.taken += step
	}
	n, err := d.Reader.Read(p)
	d.read += int64(n)
	return n, err
}

// release returns what was taken: what was stored is counted with the run.
func (d *diskReader) release() { d.disk.Add(d.owner, -d.taken) }

// asToolError returns an exceeded budget as an error of the tool, which ends the run.
func asToolError(err error) error {
	var exceeded *budget.ExceededError
	if errors.As(err, &exceeded) {
		return &toolError{exceeded.Error()}
	}
	return err
}
