package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/internal/runlog"
)

// starts are the runs that are about to start, and have no rows yet. The mu of the residents
// guards them.
type starts struct {
	byKey   map[idempotencyKey]*trackedRun
	byOwner map[string]int
}

type idempotencyKey struct{ owner, key string }

// idempotencyKeyOf returns a run's key, or the zero value if it has none.
func idempotencyKeyOf(s *runlog.Started) idempotencyKey {
	if s.IdempotencyKey == "" {
		return idempotencyKey{}
	}
	return idempotencyKey{s.Owner, s.IdempotencyKey}
}

// beginStart makes a run one that is about to start, until endStart is called, and returns it.
// If another run has the same idempotency key, it returns that one instead. The error is
// [ErrClosing], [ErrTooManyRuns], a [*budget.ExceededError], or that of reading rows. Callers
// hold r.mu; nobody else has r yet, so that it blocks nobody.
func (e *Engine) beginStart(ctx context.Context, r *trackedRun) (first *trackedRun, err error) {
	first, sameOwner, err := e.residents.beginStart(r)
	if err != nil || first != r {
		return first, err
	}
	defer func() {
		if err != nil || first != r {
			e.residents.endStart(r)
		}
	}()
	if key := idempotencyKeyOf(&r.Start); key.key != "" {
		id, err := e.rows.FindStarted(ctx, key.owner, key.key)
		if err != nil {
			return nil, err
		}
		if id != "" {
			return e.load(id)
		}
	}
	n, err := e.rows.CountOf(ctx, r.owner())
	if err != nil {
		return nil, err
	}
	if limit := e.limits.MaxActivePerOwner; limit > 0 && n.Unfinished+sameOwner > limit {
		return nil, ErrTooManyRuns
	}
	return r, e.residents.inTurn(ctx, r, func(takenFrom string) error { return e.residents.add(r, takenFrom != "") })
}

// beginStart adds a run to those that are about to start, and returns it and how many of its
// owner there are. If one of them has the same idempotency key, it returns that one instead.
func (x *residents) beginStart(r *trackedRun) (first *trackedRun, sameOwner int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := idempotencyKeyOf(&r.Start)
	if x.closed {
		return nil, 0, ErrClosing
	}
	if first := x.starts.byKey[key]; first != nil {
		return first, 0, nil
	}
	if key.key != "" {
		x.starts.byKey[key] = r
	}
	x.starts.byOwner[r.owner()]++
	return r, x.starts.byOwner[r.owner()], nil
}

// endStart removes a run from those that are about to start: it has a row now, or won't start.
func (x *residents) endStart(r *trackedRun) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if key := idempotencyKeyOf(&r.Start); x.starts.byKey[key] == r {
		delete(x.starts.byKey, key)
	}
	owner := r.Start.Owner
	if x.starts.byOwner[owner]--; x.starts.byOwner[owner] <= 0 {
		delete(x.starts.byOwner, owner)
	}
}

// add adds a run that is about to start. taken says that the owner's budget has one for it;
// see inTurn. The error is ErrClosing or ErrMustWait.
func (x *residents) add(r *trackedRun, taken bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		if taken {
			x.working.Add(r.owner(), -1)
		}
		return ErrClosing
	case !taken && !x.working.TryTake(r.owner()):
		return ErrMustWait
	}
	r.counted, r.works = true, true
	x.insert(r)
	x.workingRuns++
	return nil
}

// digestRequest returns a digest of a request. Requests with the same idempotency
// key must have the same digest.
func digestRequest(s runlog.Started) [sha256.Size]byte {
	args, err := json.Marshal(s.Args) // as they are in the log
	if err != nil {
		args = s.Args
	}
	return sha256.Sum256(append([]byte(s.Photon+"\x00"+s.ReplayOf+"\x00"), args...))
}

// resolveRepeat returns a run in reply to a repeated request, one with the run's
// idempotency key and the given digest. It waits until the first request has
// been handled.
func (e *Engine) resolveRepeat(ctx context.Context, r *trackedRun, digest [sha256.Size]byte) (Info, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Last == 0 || r.startRefused {
		return Info{}, fmt.Errorf("the first request with this idempotency key failed: %w", runlog.ErrUnavailable)
	}
	entry, err := e.files.ReadEntry(ctx, r.id, 1)
	if err != nil {
		return Info{}, err
	}
	started, err := runlog.Decode[runlog.Started](entry)
	if err != nil {
		return Info{}, err
	}
	if digestRequest(started) != digest {
		return Info{}, ErrIdempotencyKeyReused
	}
	return r.info(), nil
}
