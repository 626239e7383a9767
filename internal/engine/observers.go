package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Meter counts what this process records, as opposed to what it reads from the
// log. The engine calls its methods from several goroutines, sometimes with a
// run's lock held: they must return quickly and must not call the engine.
type Meter interface {
	// EntriesAppended is called after each attempt to append entries to the log.
	EntriesAppended(entries int, took time.Duration, err error)
	RunStarted(photon, surface string)
	AskOpened(kind ask.Kind)
	// AskAnswered and AskWithdrawn are called when a question is settled. open is
	// how long it was open.
	AskAnswered(action ask.Action, surface string, open time.Duration)
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
	Kind    ask.Kind
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

func (noopMeter) AskOpened(ask.Kind) {}

func (noopMeter) AskAnswered(ask.Action, string, time.Duration) {}

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
	Question *ask.Question     // nil if it can't be read
	AskedAt  time.Time
	// Outcome is the answer's action, or why the question was withdrawn. Surface and By
	// say where the answer came from and who gave it, and AnswerBytes how large it is.
	Outcome     string
	Surface     string
	By          *generators.Caller
	AnswerBytes int
}
