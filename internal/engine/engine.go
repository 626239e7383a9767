// Package engine starts, answers, ends and lists runs. Every surface uses
// [Engine.Start], [Engine.Follow], [Engine.Answer] and [Engine.Cancel]; nothing
// else starts, answers or ends a run.
//
// The engine appends everything that happens in a run to the run's log. The log
// is the source of truth: the state in memory can be rebuilt from it.
package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/retention"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Options configure an engine. Photons, Log and Blobs are required.
type Options struct {
	Photons *generators.Registry
	// AllowAll starts photons for all callers, as [generators.Photon.Run] does.
	AllowAll bool
	// Offers reports whether the photon of that name is listed and may be started; nil
	// offers all. Runs of other photons continue, and their questions can be answered.
	Offers func(name string) bool
	Log    runlog.Log
	// Rows are the rows of Log. If it is nil, Log may be a [runlist.Store]; the rows of any
	// other log are in memory.
	Rows  runlist.Rows
	Blobs *blob.Store
	// KeyDir is the folder for the keys of secret answers. If it is empty, the
	// keys are kept in memory, which is right for an ephemeral log only.
	KeyDir string
	// Ephemeral means that the log doesn't outlive the process: closing the engine
	// interrupts durable runs, too.
	Ephemeral bool
	// Program returns a digest of the program, which claims record: a replay that differs
	// is told from one by another program. It is called when the first run starts or
	// resumes. Nil and "" mean that it isn't known.
	Program func() string
	// SkipSleeps ends every sleep as soon as it is recorded, for tests.
	SkipSleeps bool
	// Root is the folder that photons may read. If it is empty, they may read none.
	Root   string
	Policy ask.Policy
	Limits Limits
	Audit  *audit.Log   // records who answers and stops; nil for none
	Logger *slog.Logger // nil discards all logs
	Meter  Meter        // nil disables metrics
	Tracer Tracer       // nil disables tracing
	// People reports whether among those who can sign in, or may be able to, there is a
	// caller for whom qualifies returns true. It is called with a run's lock held, must
	// return quickly and must not call the engine. Nil means that anybody may sign in.
	People func(qualifies func(generators.Caller) bool) bool
	// Supervisor decides about photons that call another server's tools; nil if nothing
	// does.
	Supervisor Supervisor
	// RunURL returns the address of a run's page, or "" if it isn't known. Nil knows none.
	RunURL func(run string) string
}

// An Engine runs photons. Its methods may be called from several goroutines.
type Engine struct {
	photons       *generators.Registry
	log           runlog.Log
	rows          runlist.Rows
	files         *files.Files
	allowAll      bool
	offers        func(name string) bool // nil for all
	program       func() string
	policy        ask.Policy
	limits        Limits
	audit         *audit.Log // nil for none
	logger        *slog.Logger
	ephemeral     bool
	skipSleeps    bool
	supervisor    Supervisor                                        // nil if there is none
	people        func(qualifies func(generators.Caller) bool) bool // nil if anybody may sign in
	keys          *keyring.Keyring
	residents     *residents
	watchers      watchers
	unanswerable  unanswerableAsks
	keeper        *retention.Keeper
	evictor       *evictor
	resumes       schedule.Queue // of runs whose turn may have come
	retries       schedule.Retries
	exclusive     exclusiveRuns
	deadlines     *schedule.Deadlines
	stalledWrites stalledWrites
	messages      *recording.Recorder
	followers     atomic.Int64 // streams, pages and calls
	unkept        unkeptContents
	uploads       *budget.Budget // in progress
	disk          *budget.Budget // bytes of blobs
	meter         Meter
	tracer        Tracer
	onSample      func(askID string) // see OnSample
	onAsk         func(askID string) // see OnAsk
	runURL        func(run string) string

	ctx           context.Context // of the engine's own operations
	cancel        context.CancelCauseFunc
	generatorCtx  context.Context // parent of all generators' contexts; never ends, because each run is stopped individually
	workers       sync.WaitGroup
	acceptCtx     context.Context // ends when the engine no longer accepts runs
	stopAccepting context.CancelFunc
	closing       <-chan struct{} // acceptCtx.Done()
}

// New returns an engine. Call [Engine.Recover] before using the engine, and
// [Engine.Close] when done with it.
func New(o Options) *Engine {
	e := &Engine{
		photons: o.Photons, log: o.Log, ephemeral: o.Ephemeral, skipSleeps: o.SkipSleeps,
		allowAll: o.AllowAll, offers: o.Offers, program: o.Program, policy: o.Policy, limits: o.Limits.withDefaults(), audit: o.Audit, logger: o.Logger,
		keys:  keyring.New(o.KeyDir),
		meter: o.Meter, tracer: o.Tracer, supervisor: o.Supervisor, runURL: o.RunURL, people: o.People,
	}
	e.rows = o.Rows
	if s, ok := o.Log.(runlist.Store); ok && e.rows == nil {
		e.rows = s
	}
	if e.rows == nil {
		m := runlist.NewMemory(o.Log, files.Loader(o.Blobs))
		e.log, e.rows = m, m
	}
	e.exclusive.engine = e
	e.evictor = newEvictor(e.limits)
	e.residents = newResidents(budget.New(budget.Working, e.limits.Working))
	e.uploads, e.disk = budget.New(budget.Uploads, e.limits.Uploads), budget.New(budget.Disk, e.limits.Disk)
	if e.program == nil {
		e.program = func() string { return "" }
	}
	if e.meter == nil {
		e.meter = noopMeter{}
	}
	if e.tracer == nil {
		e.tracer = noopTracer{}
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	e.files = files.New(o.Blobs, e.log, e.disk, e.logger)
	e.keeper = e.newKeeper()
	due := func() iter.Seq2[*runlist.Row, error] { return pages.Each(e.rows.Due, (*runlist.Row).Due) }
	e.deadlines = schedule.NewDeadlines(due, e.handleDeadlines, e.logger)
	var recordings recording.Store // none, if nothing is to be on disk
	if !o.Ephemeral {
		recordings = o.Blobs
	}
	e.messages = recording.NewRecorder(recordings, e.Exists, e.logger)
	e.generatorCtx = context.Background()
	if o.Root != "" {
		e.generatorCtx = generators.WithRoot(e.generatorCtx, o.Root)
	}
	e.ctx, e.cancel = context.WithCancelCause(e.generatorCtx)
	e.acceptCtx, e.stopAccepting = context.WithCancel(e.ctx)
	e.closing = e.acceptCtx.Done()
	return e
}

// Cancel stops a run: it withdraws the run's open questions and cancels the
// generator's context, after which the generator's deferred functions run.
// The surface that the request came from is recorded. Canceling a run that has ended is
// not an error. The error is [ErrRunNotFound], [ErrForbidden], or the log's.
func (e *Engine) Cancel(ctx context.Context, caller generators.Caller, id, surface string) error {
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	ended := r.ended.Load()
	if err := r.stopRun(caller, surface); err != nil || ended {
		return err
	}
	stopped := r.auditEvent(audit.RunStopped, caller)
	stopped.Surface = surface
	e.audit.Record(stopped)
	return nil
}

// findRun returns a run if caller may access it. The error is [ErrRunNotFound],
// [ErrForbidden], or that of reading its row.
func (e *Engine) findRun(caller generators.Caller, id string) (*trackedRun, error) {
	r, err := e.load(id)
	if err != nil {
		return nil, err
	}
	if !r.isUsableBy(caller) {
		return nil, ErrForbidden
	}
	return r, nil
}

// Closing returns a channel that is closed when the engine no longer accepts runs.
func (e *Engine) Closing() <-chan struct{} { return e.closing }

// Close closes the engine gracefully. It accepts no more runs and waits until no
// run is working or ctx ends. Then it suspends the durable runs, which can be
// resumed from their logs, and ends the others, and all runs of an ephemeral
// log, as interrupted. It returns when all generators have returned, or an error
// if some haven't two seconds after they were stopped.
func (e *Engine) Close(ctx context.Context) error {
	e.stopAccepting()
	e.retries.Close()
	e.residents.stopAccepting()
	e.residents.waitIdle(ctx)
	e.deadlines.Stop()
	for _, r := range e.residents.all() {
		if err := r.suspendOrInterrupt(); err != nil {
			e.logger.Error("suspending a run", "run", r.id, "err", err)
		}
	}
	e.cancel(generators.ErrSuspended)
	defer e.messages.Close()
	return e.waitForGenerators(ctx)
}

// shutdownGrace is how long Close waits for generators that it has stopped.
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
		return errors.New("some tools did not stop in time")
	}
}

// Limits bound what runs may use. A zero field means its default, which each
// field's comment gives last.
type Limits struct {
	MaxEvents           int           // events of a run; 250,000
	MaxLogBytes         int64         // bytes of a run's log; 64 MiB
	MaxArtifactBytes    int64         // bytes of an artifact or a result; 64 MiB
	MaxBlobBytes        int64         // bytes of artifacts and files beside a run's log; 4 GiB
	Working             budget.Limit  // runs that work at once; 500 of an owner, 2,000 in all
	Uploads             budget.Limit  // uploads at once; 16, 64
	Disk                budget.Limit  // bytes of artifacts, files and results; 32 GiB, 128 GiB
	MaxActivePerOwner   int           // unfinished runs of an owner; 30,000
	MaxFinishedPerOwner int           // finished runs kept for an owner; 1,000
	MaxFinished         int           // finished runs kept for all owners; 20,000
	MaxFinishedBytes    int64         // bytes of the logs and files kept of finished runs; unlimited
	RetainFor           time.Duration // how long finished runs are kept; 7 days
	RetainAtLeast       time.Duration // how long a finished run is kept at least, however many there are; 1 minute
	EvictAfter          time.Duration // how long a durable run waits in memory; 10 minutes
	MaxResident         int           // durable runs that wait in memory; 250
	// ReplayAlways evicts each durable run as soon as it waits, so that every answer
	// replays it.
	ReplayAlways bool
}

func (l Limits) withDefaults() Limits {
	l.MaxEvents = cmp.Or(l.MaxEvents, 250_000)
	l.MaxLogBytes = cmp.Or(l.MaxLogBytes, 64<<20)
	l.MaxArtifactBytes = cmp.Or(l.MaxArtifactBytes, 64<<20)
	l.MaxBlobBytes = cmp.Or(l.MaxBlobBytes, 4<<30)
	l.Working = l.Working.Or(budget.Limit{Each: 500, All: 2_000})
	l.Uploads = l.Uploads.Or(budget.Limit{Each: 16, All: 64})
	l.Disk = l.Disk.Or(budget.Limit{Each: 32 << 30, All: 128 << 30})
	l.MaxActivePerOwner = cmp.Or(l.MaxActivePerOwner, 30_000)
	l.MaxFinishedPerOwner = cmp.Or(l.MaxFinishedPerOwner, 1_000)
	l.MaxFinished = cmp.Or(l.MaxFinished, 20_000)
	l.RetainFor = cmp.Or(l.RetainFor, 7*24*time.Hour)
	l.RetainAtLeast = cmp.Or(l.RetainAtLeast, time.Minute)
	l.EvictAfter = cmp.Or(l.EvictAfter, 10*time.Minute)
	l.MaxResident = cmp.Or(l.MaxResident, 250)
	return l
}
