// Package run is the engine. Surfaces use its four verbs, [Engine.Start],
// [Engine.Follow], [Engine.Answer] and [Engine.Cancel], and read its lists;
// nothing else starts, answers or ends a run.
//
// Everything that happens in a run is appended to its log. What the engine
// keeps in memory, it has read there.
package run

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
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/blob"
)

// Options set up an engine. Photons, Log and Blobs are required.
type Options struct {
	Photons *generators.Registry
	Log     log.Log
	Blobs   *blob.Store
	// Keys is the folder for the keys of secret answers; empty keeps them in
	// memory, for a log that is there, too.
	Keys string
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
	Events       int           // yielded by a run; 250,000
	Bytes        int64         // of a run's log; 64 MiB
	Artifact     int64         // bytes of an artifact; 64 MiB
	Stored       int64         // bytes of artifacts and files beside a run's log; 4 GiB
	Active       int           // runs of an owner that haven't ended; 30,000
	KeepFinished int           // finished runs of an owner kept; 1,000
	KeepAll      int           // finished runs of everybody kept; 20,000
	KeepBytes    int64         // of finished runs' logs and files kept; 0 bounds nothing
	KeepFor      time.Duration // that finished runs are kept; 7 days
	KeepLeast    time.Duration // that a finished run is kept however many there are; a minute
	HotFor       time.Duration // that a durable run waits in memory; 10 minutes
	HotMax       int           // durable runs that wait in memory; 250
}

func (l Limits) withDefaults() Limits {
	l.Events = cmp.Or(l.Events, 250_000)
	l.Bytes = cmp.Or(l.Bytes, 64<<20)
	l.Artifact = cmp.Or(l.Artifact, 64<<20)
	l.Stored = cmp.Or(l.Stored, 4<<30)
	l.Active = cmp.Or(l.Active, 30_000)
	l.KeepFinished = cmp.Or(l.KeepFinished, 1_000)
	l.KeepAll = cmp.Or(l.KeepAll, 20_000)
	l.KeepFor = cmp.Or(l.KeepFor, 7*24*time.Hour)
	l.KeepLeast = cmp.Or(l.KeepLeast, time.Minute)
	l.HotFor = cmp.Or(l.HotFor, 10*time.Minute)
	l.HotMax = cmp.Or(l.HotMax, 250)
	return l
}

// An Engine runs photons. Its methods may be called from several goroutines.
type Engine struct {
	photons   *generators.Registry
	log       log.Log
	blobs     *blob.Store
	policy    ask.Policy
	limits    Limits
	logger    *slog.Logger
	ephemeral bool
	keys      keyring
	index     *index
	heat      heat
	replays   replays
	deadlines *deadlines
	still     standstill
	tally     tally
	meter     Meter
	tracer    Tracer
	deleting  sync.RWMutex // held by who deletes runs, and read by who wants none deleted

	ctx     context.Context // of what the engine itself does
	cancel  context.CancelCauseFunc
	base    context.Context // under all generators; it doesn't end, since each run is stopped by itself
	workers sync.WaitGroup
	taking  context.Context // ends when no more runs are taken
	refuse  context.CancelFunc
	closing <-chan struct{} // its end
}

// New returns an engine. Call [Engine.Recover] before using it, and
// [Engine.Close] when done.
func New(o Options) *Engine {
	e := &Engine{
		photons: o.Photons, log: o.Log, blobs: o.Blobs, ephemeral: o.Ephemeral,
		policy: o.Policy, limits: o.Limits.withDefaults(), logger: o.Logger,
		index: newIndex(), keys: keyring{dir: o.Keys}, deadlines: newDeadlines(), replays: replays{later: make(map[*attempt]*time.Timer)},
		meter: o.Meter, tracer: o.Tracer,
	}
	if e.meter == nil {
		e.meter = unmetered{}
	}
	if e.tracer == nil {
		e.tracer = untraced{}
	}
	e.heat.over = make(chan struct{}, 1)
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	e.base = context.Background()
	if o.Root != "" {
		e.base = generators.WithRoot(e.base, o.Root)
	}
	e.ctx, e.cancel = context.WithCancelCause(e.base)
	e.taking, e.refuse = context.WithCancel(e.ctx)
	e.closing = e.taking.Done()
	return e
}

// Request says what to start.
type Request struct {
	Photon  string
	Args    json.RawMessage // held against the photon's input schema
	Surface string          // where the request came from: browser, http, mcp, mcp task, terminal
	// Idempotency, if not empty, makes a second request of the same owner with
	// the same key return the first one's run.
	Idempotency string
	// Keep promises that a run which has ended is kept until at least so long
	// after its start, however many others end; at most [MaxKeep]. See
	// [Info.KeptUntil].
	Keep time.Duration
}

// Start begins a run that belongs to who and returns at once. The error is
// ErrNoPhoton, a [*generators.InvalidError] with every violation, ErrReused,
// ErrTooMany, ErrClosing, or the log's.
func (e *Engine) Start(ctx context.Context, who Caller, req Request) (_ Info, err error) {
	if who.Owner() == "" {
		return Info{}, ErrForbidden
	}
	photon, ok := e.photons.Lookup(req.Photon)
	if !ok {
		return Info{}, ErrNoPhoton
	}
	args, err := photon.Check(req.Args)
	if err != nil {
		return Info{}, err
	}
	started := log.Started{
		Photon: photon.Name(), Title: photon.Title(), Durable: photon.Options().Durable, Version: photon.Options().Version,
		Owner: who.Owner(), Surface: req.Surface, Args: args, Idempotency: req.Idempotency,
		Keep: ask.Millis(min(max(req.Keep, 0), MaxKeep)),
	}
	r := newRecord(e, photon, started)
	kept, done := e.tracer.Start(ctx, r.subject())
	defer func() { done(err) }()
	started.Trace, r.started.Trace = kept, kept
	r.mu.Lock() // until it has begun: a repeat of the request waits for it
	defer r.mu.Unlock()
	first, err := e.index.add(r, e.limits.Active)
	if err != nil {
		return Info{}, err
	}
	if first != r {
		return first.repeated(r.request)
	}
	info, err := r.begin(ctx, started)
	if err != nil {
		if r.doubt != nil {
			r.refused = true
			e.index.rest(r)
			go r.unstart()
		} else {
			e.index.remove(r)
		}
		return Info{}, fmt.Errorf("recording the start: %w", err)
	}
	return info, nil
}

// Cancel stops a run: its open questions are withdrawn, its context ends and
// its defers run. Stopping a run that has ended is no error.
func (e *Engine) Cancel(ctx context.Context, who Caller, id string) error {
	r, err := e.find(who, id)
	if err != nil {
		return err
	}
	return r.stop()
}

// find returns a run that who may see.
func (e *Engine) find(who Caller, id string) (*record, error) {
	r := e.index.get(id)
	switch {
	case r == nil:
		return nil, ErrNotFound
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
	e.refuse()
	e.replays.hurry()
	e.index.close()
	e.index.quiet(ctx)
	e.deadlines.stop()
	for _, r := range e.index.all() {
		if err := r.letGo(context.WithoutCancel(ctx)); err != nil {
			e.logger.Error("letting go of a run", "run", r.id, "err", err)
		}
	}
	e.cancel(generators.ErrSuspended)
	return e.await(ctx)
}

// lastCall is how long generators have to return after they were told to.
const lastCall = 2 * time.Second

func (e *Engine) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCall)
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
