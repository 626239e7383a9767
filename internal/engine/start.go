package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A StartRequest describes a run to start.
type StartRequest struct {
	Photon  string
	Args    json.RawMessage // must match the photon's input schema
	Surface string          // where the request came from: browser, http, mcp, mcp task, terminal
	// IdempotencyKey identifies the request, if it isn't empty: a second request
	// from the same owner with the same key returns the first one's run.
	IdempotencyKey string
	// RetainFor is how long after its start the run is kept at least, even if it
	// has ended and however many other runs end; at most [MaxRetention]. See
	// [Info.RetainedUntil].
	RetainFor time.Duration
}

// Start starts a run, which belongs to caller, and returns without waiting for it.
// The error is [ErrForbidden], [ErrPhotonNotFound], a [*generators.InvalidError]
// with every violation, [ErrIdempotencyKeyReused], [ErrTooManyRuns],
// [ErrClosing], or the log's.
func (e *Engine) Start(ctx context.Context, caller Caller, req StartRequest) (_ Info, err error) {
	if caller.Owner() == "" {
		return Info{}, ErrForbidden
	}
	photon, ok := e.photons.Lookup(req.Photon)
	if !ok {
		return Info{}, ErrPhotonNotFound
	}
	args, err := photon.Check(req.Args)
	if err != nil {
		return Info{}, err
	}
	started := newStarted(photon, caller, args, req)
	r := newTrackedRun(e, photon, started)
	trace, done := e.tracer.TraceStart(ctx, r.tracedRun())
	defer func() { done(err) }()
	started.Trace, r.started.Trace = trace, trace
	r.mu.Lock() // until the start is recorded: a repeated request waits for it
	defer r.mu.Unlock()
	first, err := e.index.addRun(r, e.limits.MaxActivePerOwner)
	if err != nil {
		return Info{}, err
	}
	if first != r {
		return first.resolveRepeat(r.requestDigest)
	}
	info, err := r.recordStart(ctx, started)
	if err != nil {
		r.discardFailedStart()
		return Info{}, fmt.Errorf("recording the start: %w", err)
	}
	return info, nil
}

func newStarted(p *generators.Photon, caller Caller, args json.RawMessage, req StartRequest) runlog.Started {
	return runlog.Started{
		Photon: p.Name(), Title: p.Title(), Durable: p.Options().Durable, Version: p.Options().Version,
		Owner: caller.Owner(), Surface: req.Surface, Args: args, IdempotencyKey: req.IdempotencyKey,
		RetainFor: ask.Millis(min(max(req.RetainFor, 0), MaxRetention)),
	}
}

// discardFailedStart removes a run whose start could not be recorded. If the log
// may have it all the same, it is deleted there in the background. Callers hold
// mu.
func (r *trackedRun) discardFailedStart() {
	if r.uncertain == nil {
		r.engine.index.removeRun(r)
		return
	}
	r.startRefused = true
	r.engine.index.markInactive(r)
	go r.undoStart()
}

// firstClaim is the claim of the worker that starts a run.
var firstClaim = runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1})

// recordStart records the start and launches the generator. Callers hold mu.
func (r *trackedRun) recordStart(ctx context.Context, s runlog.Started) (Info, error) {
	started := runlog.NewEntry(runlog.KindStarted, s)
	started.Time = r.startedAt
	err := r.appendEntries(ctx, started, firstClaim)
	if err != nil {
		return Info{}, err
	}
	info := r.info()
	r.launchGenerator(s.Args, nil)
	return info, nil
}
