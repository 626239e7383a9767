package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/clientsession"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// A StartRequest describes a run to start.
type StartRequest struct {
	Photon string
	// Unlisted, if it is set, is started instead of a registered photon. Its run ends
	// with the process.
	Unlisted *generators.Photon
	Args     json.RawMessage // must match the photon's input schema
	Surface  string          // where the request came from: browser, http, mcp, mcp task, terminal
	// Samples means that the client has a model of its own, which questions to a model go
	// to.
	Samples bool
	// IdempotencyKey identifies the request, if it isn't empty: a second request
	// from the same owner with the same key returns the first one's run.
	IdempotencyKey string
	// RetainFor is how long after its start the run is kept at least, even if it
	// has ended and however many other runs end; at most [MaxRetention]. See
	// [Info.RetainedUntil].
	RetainFor time.Duration
	// Client is the client that starts the run, for the code that serves it; it may be nil.
	Client *clientsession.Client
	// Received is the message that starts the run, if one does; see [Engine.RecordMessage].
	Received recording.Observed

	source *replay.Source // see Replay and Fork; nil for none
}

// Start starts a run, which belongs to caller, and returns without waiting for it.
// The error is [ErrForbidden], [ErrPhotonNotFound], a [*generators.InvalidError]
// with every violation, [ErrIdempotencyKeyReused], [ErrTooManyRuns], a
// [*budget.ExceededError], [ErrClosing], or the log's. If too many runs of the caller work, the
// start waits in line as [WithMaxWait] says.
func (e *Engine) Start(ctx context.Context, caller generators.Caller, req StartRequest) (_ Info, err error) {
	if caller.ID == "" {
		return Info{}, ErrForbidden
	}
	photon, ok := req.Unlisted, false
	if photon != nil {
		ok = e.allows(photon, caller)
	} else {
		photon, ok = e.LookupPhoton(caller, req.Photon)
	}
	if !ok {
		return Info{}, ErrPhotonNotFound
	}
	args, err := photon.Check(req.Args)
	if err != nil {
		return Info{}, err
	}
	started := newStarted(photon, caller, e.recordedArguments(photon, args), req)
	if started.Exclusive, err = driver.ExclusiveKey(photon, args); err != nil {
		attrs := []any{"photon", photon.Name(), "err", err}
		if p, ok := errors.AsType[*driver.PanicError](err); ok {
			attrs = append(attrs, "panic", p.Value, "stack", string(p.Stack))
		}
		e.logger.Error("finding the key of a run", attrs...)
		return Info{}, err
	}
	if _, err := e.share.AwaitLease(ctx); err != nil {
		return Info{}, err
	}
	req.source.SetIn(&started)
	r := newTrackedRun(e.core, photon, started)
	r.source = req.source
	trace, done := e.tracer.TraceStart(ctx, r.tracedRun())
	defer func() { done(err) }()
	started.Trace, r.Start.Trace = trace, trace
	r.mu.Lock() // until the start is recorded: a repeated request waits for it
	defer r.mu.Unlock()
	first, err := e.beginStart(ctx, r)
	if err != nil {
		return Info{}, err
	}
	if first != r {
		return e.resolveRepeat(ctx, first, digestRequest(started))
	}
	if req.Received.Data != nil {
		e.RecordMessage(r.id, req.Received)
	}
	info, err := e.recordStart(ctx, r, started, req.Client, args)
	if err != nil {
		e.discardFailedStart(r)
		var elsewhere *runlog.DuplicateStartError
		if errors.As(err, &elsewhere) { // by another process, a moment ago
			if first, err := e.load(elsewhere.Run); err == nil {
				return e.resolveRepeat(ctx, first, digestRequest(started))
			}
		}
		return Info{}, fmt.Errorf("recording the start: %w", err)
	}
	e.residents.endStart(r)
	return info, nil
}

func newStarted(p *generators.Photon, caller generators.Caller, args json.RawMessage, req StartRequest) runlog.Started {
	s := runlog.Started{
		Photon: p.Name(), Title: cleantext.Line(p.Title()), Durable: p.Options().Durable, Version: p.Options().Version,
		Surface: req.Surface, Samples: req.Samples, Args: args, IdempotencyKey: req.IdempotencyKey,
		RetainFor: askdata.Millis(min(max(req.RetainFor, 0), MaxRetention)),
	}
	s.SetStartedBy(caller)
	return s
}

// discardFailedStart removes a run whose start could not be recorded. If the log
// may have it all the same, it is deleted there in the background. Callers hold
// r.mu.
func (e *Engine) discardFailedStart(r *trackedRun) {
	if !r.IsUncertain() {
		e.residents.remove(r)
		e.residents.endStart(r)
		return
	}
	r.startRefused = true
	r.setInactive(true)
	e.undoStart(r)
}

// recordStart records the start and launches the generator with args, unless the run must
// wait for another one. Callers hold r.mu.
func (e *Engine) recordStart(ctx context.Context, r *trackedRun, s runlog.Started, client *clientsession.Client, args json.RawMessage) (Info, error) {
	started := runlog.NewEntry(runlog.KindStarted, s)
	started.Time = r.StartedAt
	first, release, err := e.exclusive.Join(ctx, exclusive.KeyOf(&r.Start))
	if err != nil {
		return Info{}, err
	}
	defer release()
	if e.share != nil && s.Exclusive != "" { // another may start elsewhere at the same time
		first = false
		defer e.exclusive.StartNext(exclusive.KeyOf(&r.Start))
	}
	if !first {
		err := r.Append(ctx, started, runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: s.Exclusive}))
		return r.info(), err
	}
	if err := r.Append(ctx, started, e.newClaim(1)); err != nil {
		return Info{}, err
	}
	info := r.info()
	r.launchGenerator(s.StartedBy(), client, args, nil)
	return info, nil
}

// undoStart deletes a run whose start was refused although it may have been
// recorded. Until then, its idempotency key stays in use.
func (e *Engine) undoStart(r *trackedRun) {
	r.retryLater(func() error {
		ctx := e.ctx
		if err := r.Resolve(ctx); err != nil {
			return err
		}
		end, ok := e.keeper.TryBegin() // another deletion may wait for the run
		if !ok {
			return fmt.Errorf("%w: %w", runlog.ErrUnavailable, ErrDeletionPaused)
		}
		defer end()
		if err := e.log.Delete(ctx, r.id); err != nil {
			return err
		}
		e.residents.remove(r)
		e.residents.endStart(r)
		e.exclusive.StartNext(exclusive.KeyOf(&r.Start))
		e.files.Delete(r.id, r.owner())
		return nil
	})
}

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
	earlier := s.ReplayOf
	if s.Fork != nil {
		earlier = fmt.Sprintf("fork %s until %d", s.Fork.Of, s.Fork.Until)
	}
	return sha256.Sum256(append([]byte(s.Photon+"\x00"+earlier+"\x00"), args...))
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
