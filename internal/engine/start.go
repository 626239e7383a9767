package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/clientsession"
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

	answers *replay.Answers // see Replay; nil for none
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
	if started.Exclusive, err = photon.ExclusiveKey(args); err != nil {
		attrs := []any{"photon", photon.Name(), "err", err}
		if p, ok := errors.AsType[*generators.PanicError](err); ok {
			attrs = append(attrs, "panic", p.Value, "stack", string(p.Stack))
		}
		e.logger.Error("finding the key of a run", attrs...)
		return Info{}, err
	}
	started.ReplayOf = req.answers.From()
	r := newTrackedRun(e.core, photon, started)
	r.answers = req.answers
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
		return Info{}, fmt.Errorf("recording the start: %w", err)
	}
	e.residents.endStart(r)
	return info, nil
}

func newStarted(p *generators.Photon, caller generators.Caller, args json.RawMessage, req StartRequest) runlog.Started {
	s := runlog.Started{
		Photon: p.Name(), Title: cleantext.Line(p.Title()), Durable: p.Options().Durable, Version: p.Options().Version,
		Surface: req.Surface, Samples: req.Samples, Args: args, IdempotencyKey: req.IdempotencyKey,
		RetainFor: ask.Millis(min(max(req.RetainFor, 0), MaxRetention)),
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
	if !first {
		err := r.Append(ctx, started, runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: s.Exclusive}))
		return r.info(), err
	}
	if err := r.Append(ctx, started, newClaim(e.program(), 1)); err != nil {
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
