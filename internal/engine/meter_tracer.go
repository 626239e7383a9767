package engine

import (
	"context"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Meter is told what an engine does, to count it: what this process records,
// not what it reads back. Its methods are called from several goroutines, some
// with a run's lock held: they return at once and don't call the engine.
type Meter interface {
	// EntriesAppended is called after each try to append entries to the log.
	EntriesAppended(entries int, took time.Duration, err error)
	RunStarted(photon, surface string)
	AskOpened(kind ask.Kind)
	// AskAnswered and Withdrawn are called when a question is settled that was
	// open for a time.
	AskAnswered(action ask.Action, surface string, open time.Duration)
	AskWithdrawn(reason runlog.WithdrawReason, open time.Duration)
	RunFinished(photon string, status runlog.FinishStatus)
	// RunReplayed is called when a run that was taken up again has come to where it
	// had been, or won't any more: then it is not whole.
	RunReplayed(took time.Duration, whole bool)
}

// A Tracer makes spans of what an engine does. Its methods may be called from
// several goroutines, some with a run's lock held: they return at once and
// don't call the engine. A run may wait for days, and no span does: those of the
// pieces of a run meet in the trace that its log has.
type Tracer interface {
	// TraceStart begins the span of a run's start, in the trace of the request whose
	// context it gets. It returns what the run's log keeps of it, and what ends
	// it; done gets why the run was not started, if it was not.
	TraceStart(ctx context.Context, s TracedRun) (kept *runlog.Trace, done func(error))
	// TraceGenerator begins the span of a generator's life in this process: done gets the
	// run's state at the end. What the generator calls goes on in the context
	// that Live returns, which is made of ctx.
	TraceGenerator(ctx context.Context, s TracedRun) (_ context.Context, done func(State))
	// TraceAnswer begins the span of an answer to the question with an ordinal, in
	// the trace of the request that brings it.
	TraceAnswer(ctx context.Context, s TracedRun, asked uint64) (done func(error))
	// TraceAsk makes the span of a question, from when it was asked until now.
	// outcome is the action of the answer, or why the question was withdrawn;
	// by is the surface that the answer came from, if it was one.
	TraceAsk(s TracedRun, q SettledAsk)
	// TraceReplay makes the span of a replay that ends now. settled is the ordinal
	// of the question whose settlement was recorded last, 0 if none was.
	TraceReplay(s TracedRun, began time.Time, settled uint64, whole bool)
}

// TracedRun is the run that a [Tracer] is told of.
type TracedRun struct {
	ID, Photon, Surface string
	Trace               *runlog.Trace // what its log keeps; nil if it is not traced
}

// SettledAsk is how a question was settled.
type SettledAsk struct {
	Seq     uint64 // its ordinal
	AskedAt time.Time
	Kind    ask.Kind
	Outcome string
	Surface string
}

func (r *trackedRun) tracedRun() TracedRun {
	return TracedRun{ID: r.id, Photon: r.started.Photon, Surface: r.started.Surface, Trace: r.started.Trace}
}

// observeEntry tells of an entry that was recorded, and is to be applied next. Callers
// hold mu.
func (r *trackedRun) observeEntry(e runlog.Entry) {
	m := r.engine.meter
	switch e.Kind {
	case runlog.KindStarted:
		m.RunStarted(r.started.Photon, r.started.Surface)
	case runlog.KindAsked:
		if a, err := runlog.Decode[runlog.Asked](e); err == nil {
			m.AskOpened(a.Question.Kind)
		}
	case runlog.KindAnswered:
		if a, err := runlog.Decode[runlog.Answered](e); err == nil {
			m.AskAnswered(a.Answer.Action, a.Surface, r.observeSettlement(a.AskSeq, string(a.Answer.Action), a.Surface))
		}
	case runlog.KindWithdrawn:
		if w, err := runlog.Decode[runlog.Withdrawn](e); err == nil {
			m.AskWithdrawn(w.Reason, r.observeSettlement(w.AskSeq, string(w.Reason), ""))
		}
	case runlog.KindFinished:
		if f, err := runlog.Decode[runlog.Finished](e); err == nil {
			m.RunFinished(r.started.Photon, f.Status)
		}
	}
}

// observeSettlement tells of a question that is settled, and returns how long it was
// open.
func (r *trackedRun) observeSettlement(seq uint64, outcome, by string) time.Duration {
	o := r.findOpenAsk(seq)
	if o == nil {
		return 0
	}
	since := o.askedAt
	if _, off := r.engine.tracer.(noopTracer); !off {
		s := SettledAsk{Seq: seq, AskedAt: since, Outcome: outcome, Surface: by}
		if asked, err := r.loadAsked(r.engine.ctx, o); err == nil {
			s.Kind = asked.Question.Kind
		}
		r.engine.tracer.TraceAsk(r.tracedRun(), s)
	}
	return time.Since(since)
}

// observeReplay tells that a replay has come to where the run had been, or ends
// before.
func (w *worker) observeReplay(whole bool) {
	h := w.history
	if h == nil || h.replayReported {
		return
	}
	h.replayReported = true
	w.engine.meter.RunReplayed(time.Since(h.readStarted), whole)
	w.engine.tracer.TraceReplay(w.tracedRun(), h.readStarted, h.lastSettled, whole)
}

// unmetered and untraced do nothing, and cost nothing.
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
func (noopMeter) RunFinished(string, runlog.FinishStatus)                     {}
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
