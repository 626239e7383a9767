package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Options configure an engine. Photons, Log and Blobs are required.
type Options struct {
	Photons *registry.Registry
	// ReadsOnly means that the process runs no photon, so that whether runs fit it says nothing:
	// none is parked.
	ReadsOnly bool
	// Replica is this process among those that share Log; nil if no other process has it.
	Replica sharing.Replica
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
	// Keys are the keys themselves, if they are elsewhere.
	Keys *keyring.Keyring
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
	Policy asking.Policy
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

// A Meter counts what this process records, as opposed to what it reads from the
// log. The engine calls its methods from several goroutines, sometimes with a
// run's lock held: they must return quickly and must not call the engine.
type Meter interface {
	// EntriesAppended is called after each attempt to append entries to the log.
	EntriesAppended(entries int, took time.Duration, err error)
	RunStarted(photon, surface string)
	AskOpened(kind askdata.Kind)
	// AskAnswered and AskWithdrawn are called when a question is settled. open is
	// how long it was open.
	AskAnswered(action askdata.Action, surface string, open time.Duration)
	AskWithdrawn(reason runlog.WithdrawReason, open time.Duration)
	RunFinished(photon string, end runlog.Finished)
	// RunReplayed is called when a replay ends. complete reports whether it has
	// reached every recorded call.
	RunReplayed(took time.Duration, complete bool)
}

// A Tracer creates spans of what an engine does. The engine calls its methods from
// several goroutines, sometimes with a run's lock held: they must return quickly
// and must not call the engine. A run may wait for days, but no span lasts that
// long: a run has several, in the trace that its log names.
type Tracer interface {
	// TraceStart begins the span of a run's start, in the trace of the request with
	// context ctx. It returns the trace to record in the run's log and a function
	// that ends the span, with an error if the run was not started.
	TraceStart(ctx context.Context, r TracedRun) (trace *runlog.Trace, done func(error))
	// TraceGenerator begins the span of a generator in this process. It returns the
	// generator's context, which derives from ctx, and a function that ends the
	// span with the run's state.
	TraceGenerator(ctx context.Context, r TracedRun) (_ context.Context, done func(State))
	// TraceAnswer begins the span of an answer to the question with ordinal askSeq,
	// in the trace of the request with context ctx. done ends the span.
	TraceAnswer(ctx context.Context, r TracedRun, askSeq uint64) (done func(error))
	// TraceAsk creates the span of a question, from when it was asked until now.
	TraceAsk(r TracedRun, q SettledAsk)
	// TraceReplay creates the span of a replay that ends now. lastSettled is the
	// ordinal of the question that was settled last, or 0 if none was.
	TraceReplay(r TracedRun, began time.Time, lastSettled uint64, complete bool)
}

// A TracedRun identifies a run to a [Tracer].
type TracedRun struct {
	ID, Photon, Surface string
	Trace               *runlog.Trace // the trace that the run's log names; nil if none
}

// A SettledAsk describes a question and how it was settled.
type SettledAsk struct {
	Seq     uint64 // the question's ordinal
	AskedAt time.Time
	Kind    askdata.Kind
	Outcome string // the answer's action, or why the question was withdrawn
	Surface string // where the answer came from; "" if the question was withdrawn
}

// noopMeter and noopTracer do nothing.
type (
	noopMeter  struct{}
	noopTracer struct{}
)

var (
	_ Meter  = noopMeter{}
	_ Tracer = noopTracer{}
)

func (noopMeter) EntriesAppended(int, time.Duration, error) {}

func (noopMeter) RunStarted(string, string) {}

func (noopMeter) AskOpened(askdata.Kind) {}

func (noopMeter) AskAnswered(askdata.Action, string, time.Duration) {}

func (noopMeter) AskWithdrawn(runlog.WithdrawReason, time.Duration) {}

func (noopMeter) RunFinished(string, runlog.Finished) {}

func (noopMeter) RunReplayed(time.Duration, bool) {}

func (noopTracer) TraceAsk(TracedRun, SettledAsk) {}

func (noopTracer) TraceReplay(TracedRun, time.Time, uint64, bool) {}

func (noopTracer) TraceAnswer(context.Context, TracedRun, uint64) func(error) { return func(error) {} }

func (noopTracer) TraceStart(context.Context, TracedRun) (*runlog.Trace, func(error)) {
	return nil, func(error) {}
}

func (noopTracer) TraceGenerator(ctx context.Context, _ TracedRun) (context.Context, func(State)) {
	return ctx, func(State) {}
}

// A Supervisor decides what holds for the runs of photons that call another server's
// tools, those with a definition. The engine calls its methods from several goroutines,
// sometimes with a run's lock held: they must return quickly and must not call the
// engine.
type Supervisor interface {
	// RecordedArguments returns what the log keeps of a run's arguments: the arguments
	// themselves, or a JSON text in their place.
	RecordedArguments(p *generators.Photon, args json.RawMessage) json.RawMessage
	// RecordedMessages returns what is kept of the messages of a run: a function that returns a
	// message itself, or a JSON text in its place; nil if nothing is. It is called for each
	// message, and the function later.
	RecordedMessages(p *generators.Photon) func(message json.RawMessage) json.RawMessage
	// AdmitsSecrets reports whether forms may have fields for secrets.
	AdmitsSecrets(p *generators.Photon) bool
	// AskSettled is called when a question is settled.
	AskSettled(a SupervisedAsk)
}

// A SupervisedAsk is a question that was settled.
type SupervisedAsk struct {
	ID       string
	Run      string
	Photon   *generators.Photon
	Owner    generators.Caller // whose run it is
	Question *askdata.Question // nil if it can't be read
	AskedAt  time.Time
	// Outcome is the answer's action, or why the question was withdrawn. Surface and By
	// say where the answer came from and who gave it, and AnswerBytes how large it is.
	Outcome     string
	Surface     string
	By          *generators.Caller
	AnswerBytes int
}
