// Package run is the engine. Surfaces use its four verbs, [Engine.Start],
// [Engine.Follow], [Engine.Answer] and [Engine.Cancel], and read its lists;
// nothing else starts, answers or ends a run.
//
// Everything that happens in a run is appended to its log. What the engine
// keeps in memory, it has read there.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Options set up an engine. Photons, Log and Blobs are required.
type Options struct {
	Photons *generators.Registry
	Log     runlog.Log
	Blobs   *blob.Store
	// KeyDir is the folder for the keys of secret answers; empty keeps them in
	// memory, for a log that is there, too.
	KeyDir string
	// Ephemeral says that the log ends with the process, so that even durable
	// runs are interrupted by closing the engine.
	Ephemeral bool
	// Root is the folder that photons may read; empty for none.
	Root   string
	Policy ask.Policy
	Limits Limits
	Logger *slog.Logger // nil discards
	Meter  Meter        // nil counts nothing
	Tracer Tracer       // nil traces nothing
}

// Limits bound what runs may take. The zero value of a field is its default.
type Limits struct {
	MaxEvents           int           // yielded by a run; 250,000
	MaxLogBytes         int64         // of a run's log; 64 MiB
	MaxArtifactBytes    int64         // bytes of an artifact; 64 MiB
	MaxBlobBytes        int64         // bytes of artifacts and files beside a run's log; 4 GiB
	MaxActivePerOwner   int           // runs of an owner that haven't ended; 30,000
	MaxFinishedPerOwner int           // finished runs of an owner kept; 1,000
	MaxFinished         int           // finished runs of everybody kept; 20,000
	MaxFinishedBytes    int64         // of finished runs' logs and files kept; 0 bounds nothing
	RetainFor           time.Duration // that finished runs are kept; 7 days
	RetainAtLeast       time.Duration // that a finished run is kept however many there are; a minute
	ResidentFor         time.Duration // that a durable run waits in memory; 10 minutes
	MaxResident         int           // durable runs that wait in memory; 250
}

func (l Limits) withDefaults() Limits {
	l.MaxEvents = cmp.Or(l.MaxEvents, 250_000)
	l.MaxLogBytes = cmp.Or(l.MaxLogBytes, 64<<20)
	l.MaxArtifactBytes = cmp.Or(l.MaxArtifactBytes, 64<<20)
	l.MaxBlobBytes = cmp.Or(l.MaxBlobBytes, 4<<30)
	l.MaxActivePerOwner = cmp.Or(l.MaxActivePerOwner, 30_000)
	l.MaxFinishedPerOwner = cmp.Or(l.MaxFinishedPerOwner, 1_000)
	l.MaxFinished = cmp.Or(l.MaxFinished, 20_000)
	l.RetainFor = cmp.Or(l.RetainFor, 7*24*time.Hour)
	l.RetainAtLeast = cmp.Or(l.RetainAtLeast, time.Minute)
	l.ResidentFor = cmp.Or(l.ResidentFor, 10*time.Minute)
	l.MaxResident = cmp.Or(l.MaxResident, 250)
	return l
}

// An Engine runs photons. Its methods may be called from several goroutines.
type Engine struct {
	photons       *generators.Registry
	log           runlog.Log
	blobs         *blob.Store
	policy        ask.Policy
	limits        Limits
	logger        *slog.Logger
	ephemeral     bool
	keys          keyring
	index         *index
	residency     residency
	resumes       resumeQueue
	deadlines     *deadlines
	stalledWrites stalledWrites
	counters      counters
	meter         Meter
	tracer        Tracer
	deleteLock    sync.RWMutex // held by who deletes runs, and read by who wants none deleted

	ctx           context.Context // of what the engine itself does
	cancel        context.CancelCauseFunc
	generatorCtx  context.Context // under all generators; it doesn't end, since each run is stopped by itself
	workers       sync.WaitGroup
	acceptCtx     context.Context // ends when no more runs are taken
	stopAccepting context.CancelFunc
	closing       <-chan struct{} // its end
}

// New returns an engine. Call [Engine.Recover] before using it, and
// [Engine.Close] when done.
func New(o Options) *Engine {
	e := &Engine{
		photons: o.Photons, log: o.Log, blobs: o.Blobs, ephemeral: o.Ephemeral,
		policy: o.Policy, limits: o.Limits.withDefaults(), logger: o.Logger,
		index: newIndex(), keys: keyring{dir: o.KeyDir}, deadlines: newDeadlines(), resumes: resumeQueue{retries: make(map[*resumeAttempt]*time.Timer)},
		meter: o.Meter, tracer: o.Tracer,
	}
	if e.meter == nil {
		e.meter = noopMeter{}
	}
	if e.tracer == nil {
		e.tracer = noopTracer{}
	}
	e.residency.overLimit = make(chan struct{}, 1)
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	e.generatorCtx = context.Background()
	if o.Root != "" {
		e.generatorCtx = generators.WithRoot(e.generatorCtx, o.Root)
	}
	e.ctx, e.cancel = context.WithCancelCause(e.generatorCtx)
	e.acceptCtx, e.stopAccepting = context.WithCancel(e.ctx)
	e.closing = e.acceptCtx.Done()
	return e
}

// StartRequest says what to start.
type StartRequest struct {
	Photon  string
	Args    json.RawMessage // held against the photon's input schema
	Surface string          // where the request came from: browser, http, mcp, mcp task, terminal
	// IdempotencyKey, if not empty, makes a second request of the same owner with
	// the same key return the first one's run.
	IdempotencyKey string
	// RetainFor promises that a run which has ended is kept until at least so long
	// after its start, however many others end; at most [MaxRetention]. See
	// [Info.RetainedUntil].
	RetainFor time.Duration
}

// Start begins a run that belongs to who and returns at once. The error is
// ErrNoPhoton, a [*generators.InvalidError] with every violation, ErrReused,
// ErrTooMany, ErrClosing, or the log's.
func (e *Engine) Start(ctx context.Context, who Caller, req StartRequest) (_ Info, err error) {
	if who.Owner() == "" {
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
	started := runlog.Started{
		Photon: photon.Name(), Title: photon.Title(), Durable: photon.Options().Durable, Version: photon.Options().Version,
		Owner: who.Owner(), Surface: req.Surface, Args: args, IdempotencyKey: req.IdempotencyKey,
		RetainFor: ask.Millis(min(max(req.RetainFor, 0), MaxRetention)),
	}
	r := newTrackedRun(e, photon, started)
	kept, done := e.tracer.TraceStart(ctx, r.tracedRun())
	defer func() { done(err) }()
	started.Trace, r.started.Trace = kept, kept
	r.mu.Lock() // until it has begun: a repeat of the request waits for it
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
		if r.uncertain != nil {
			r.startRefused = true
			e.index.markInactive(r)
			go r.undoStart()
		} else {
			e.index.removeRun(r)
		}
		return Info{}, fmt.Errorf("recording the start: %w", err)
	}
	return info, nil
}

// Cancel stops a run: its open questions are withdrawn, its context ends and
// its defers run. Stopping a run that has ended is no error.
func (e *Engine) Cancel(ctx context.Context, who Caller, id string) error {
	r, err := e.findRun(who, id)
	if err != nil {
		return err
	}
	return r.stopRun()
}

// findRun returns a run that who may see.
func (e *Engine) findRun(who Caller, id string) (*trackedRun, error) {
	r := e.index.lookup(id)
	switch {
	case r == nil:
		return nil, ErrRunNotFound
	case !who.Owns(r.owner()):
		return nil, ErrForbidden
	}
	return r, nil
}

// Closing is closed when the engine takes no more runs.
func (e *Engine) Closing() <-chan struct{} { return e.closing }

// Close takes no more runs, lets those that work go on until ctx ends, then
// lets go of what is left: durable runs are suspended, to be taken up again
// from their log; the others, and all runs of an ephemeral log, are marked
// interrupted and their questions withdrawn. It returns when the generators
// have returned, or an error if some ignore for two seconds that they should.
func (e *Engine) Close(ctx context.Context) error {
	e.stopAccepting()
	e.resumes.queueAllRetries()
	e.index.stopAccepting()
	e.index.waitIdle(ctx)
	e.deadlines.stop()
	for _, r := range e.index.allRuns() {
		if err := r.suspendOrInterrupt(context.WithoutCancel(ctx)); err != nil {
			e.logger.Error("letting go of a run", "run", r.id, "err", err)
		}
	}
	e.cancel(generators.ErrSuspended)
	return e.waitForGenerators(ctx)
}

// shutdownGrace is how long generators have to return after they were told to.
const shutdownGrace = 2 * time.Second

func (e *Engine) waitForGenerators(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("some tools did not stop when they were told to")
	}
}
