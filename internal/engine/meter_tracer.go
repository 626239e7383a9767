package engine

import (
	"context"
	"time"

	"github.com/photon-beam/beam/ask"
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

func (r *trackedRun) tracedRun() TracedRun {
	return TracedRun{ID: r.id, Photon: r.Start.Photon, Surface: r.Start.Surface, Trace: r.Start.Trace}
}

// observeReplay meters and traces the end of a replay, once. complete reports
// whether the replay has reached every recorded call.
func (w *worker) observeReplay(complete bool) {
	h := w.history
	if h == nil || w.replayObserved {
		return
	}
	w.replayObserved = true
	w.core.meter.RunReplayed(time.Since(h.ReadStarted), complete)
	w.core.tracer.TraceReplay(w.tracedRun(), h.ReadStarted, h.LastSettled, complete)
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

func (noopMeter) EntriesAppended(int, time.Duration, error)                   {}
func (noopMeter) RunStarted(string, string)                                   {}
func (noopMeter) AskOpened(ask.Kind)                                          {}
func (noopMeter) AskAnswered(ask.Action, string, time.Duration)               {}
func (noopMeter) AskWithdrawn(runlog.WithdrawReason, time.Duration)           {}
func (noopMeter) RunFinished(string, runlog.Finished)                         {}
func (noopMeter) RunReplayed(time.Duration, bool)                             {}
func (noopTracer) TraceAsk(TracedRun, SettledAsk)                             {}
func (noopTracer) TraceReplay(TracedRun, time.Time, uint64, bool)             {}
func (noopTracer) TraceAnswer(context.Context, TracedRun, uint64) func(error) { return func(error) {} }

func (noopTracer) TraceStart(context.Context, TracedRun) (*runlog.Trace, func(error)) {
	return nil, func(error) {}
}

func (noopTracer) TraceGenerator(ctx context.Context, _ TracedRun) (context.Context, func(State)) {
	return ctx, func(State) {}
}
