package run

import (
	"context"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/log"
)

// A Meter is told what an engine does, to count it: what this process records,
// not what it reads back. Its methods are called from several goroutines, some
// with a run's lock held: they return at once and don't call the engine.
type Meter interface {
	// Appended is called after each try to append entries to the log.
	Appended(entries int, took time.Duration, err error)
	Started(photon, surface string)
	Asked(kind ask.Kind)
	// Answered and Withdrawn are called when a question is settled that was
	// open for a time.
	Answered(action ask.Action, surface string, open time.Duration)
	Withdrawn(reason log.Reason, open time.Duration)
	Finished(photon string, status log.Status)
	// Replayed is called when a run that was taken up again has come to where it
	// had been, or won't any more: then it is not whole.
	Replayed(took time.Duration, whole bool)
}

// A Tracer makes spans of what an engine does. Its methods may be called from
// several goroutines, some with a run's lock held: they return at once and
// don't call the engine. A run may wait for days, and no span does: those of the
// pieces of a run meet in the trace that its log has.
type Tracer interface {
	// Start begins the span of a run's start, in the trace of the request whose
	// context it gets. It returns what the run's log keeps of it, and what ends
	// it; done gets why the run was not started, if it was not.
	Start(ctx context.Context, s Subject) (kept *log.Trace, done func(error))
	// Live begins the span of a generator's life in this process: done gets the
	// run's state at the end. What the generator calls goes on in the context
	// that Live returns, which is made of ctx.
	Live(ctx context.Context, s Subject) (_ context.Context, done func(State))
	// Answer begins the span of an answer to the question with an ordinal, in
	// the trace of the request that brings it.
	Answer(ctx context.Context, s Subject, asked uint64) (done func(error))
	// Settled makes the span of a question, from when it was asked until now.
	// outcome is the action of the answer, or why the question was withdrawn;
	// by is the surface that the answer came from, if it was one.
	Settled(s Subject, q Settled)
	// Replayed makes the span of a replay that ends now. settled is the ordinal
	// of the question whose settlement was recorded last, 0 if none was.
	Replayed(s Subject, began time.Time, settled uint64, whole bool)
}

// Subject is the run that a [Tracer] is told of.
type Subject struct {
	Run, Photon, Surface string
	Trace                *log.Trace // what its log keeps; nil if it is not traced
}

// Settled is how a question was settled.
type Settled struct {
	Asked   uint64 // its ordinal
	Since   time.Time
	Kind    ask.Kind
	Outcome string
	By      string
}

func (r *record) subject() Subject {
	return Subject{Run: r.id, Photon: r.started.Photon, Surface: r.started.Surface, Trace: r.started.Trace}
}

// tell tells of an entry that was recorded, and is to be applied next. Callers
// hold mu.
func (r *record) tell(e log.Entry) {
	m := r.engine.meter
	switch e.Kind {
	case log.KindStarted:
		m.Started(r.started.Photon, r.started.Surface)
	case log.KindAsked:
		if a, err := log.As[log.Asked](e); err == nil {
			m.Asked(a.Question.Kind)
		}
	case log.KindAnswered:
		if a, err := log.As[log.Answered](e); err == nil {
			m.Answered(a.Answer.Action, a.By, r.tellSettled(a.Ask, string(a.Answer.Action), a.By))
		}
	case log.KindWithdrawn:
		if w, err := log.As[log.Withdrawn](e); err == nil {
			m.Withdrawn(w.Reason, r.tellSettled(w.Ask, string(w.Reason), ""))
		}
	case log.KindFinished:
		if f, err := log.As[log.Finished](e); err == nil {
			m.Finished(r.started.Photon, f.Status)
		}
	}
}

// tellSettled tells of a question that is settled, and returns how long it was
// open.
func (r *record) tellSettled(seq uint64, outcome, by string) time.Duration {
	o := r.open(seq)
	if o == nil {
		return 0
	}
	since := o.since
	if _, off := r.engine.tracer.(untraced); !off {
		s := Settled{Asked: seq, Since: since, Outcome: outcome, By: by}
		if asked, err := r.question(r.engine.ctx, o); err == nil {
			s.Kind = asked.Question.Kind
		}
		r.engine.tracer.Settled(r.subject(), s)
	}
	return time.Since(since)
}

// replayed tells that a replay has come to where the run had been, or ends
// before.
func (w *worker) replayed(whole bool) {
	h := w.history
	if h == nil || h.met {
		return
	}
	h.met = true
	w.engine.meter.Replayed(time.Since(h.began), whole)
	w.engine.tracer.Replayed(w.subject(), h.began, h.settled, whole)
}

// unmetered and untraced do nothing, and cost nothing.
type (
	unmetered struct{}
	untraced  struct{}
)

var (
	_ Meter  = unmetered{}
	_ Tracer = untraced{}
)

func (unmetered) Appended(int, time.Duration, error)                 {}
func (unmetered) Started(string, string)                             {}
func (unmetered) Asked(ask.Kind)                                     {}
func (unmetered) Answered(ask.Action, string, time.Duration)         {}
func (unmetered) Withdrawn(log.Reason, time.Duration)                {}
func (unmetered) Finished(string, log.Status)                        {}
func (unmetered) Replayed(time.Duration, bool)                       {}
func (untraced) Settled(Subject, Settled)                            {}
func (untraced) Replayed(Subject, time.Time, uint64, bool)           {}
func (untraced) Answer(context.Context, Subject, uint64) func(error) { return func(error) {} }

func (untraced) Start(context.Context, Subject) (*log.Trace, func(error)) {
	return nil, func(error) {}
}

func (untraced) Live(ctx context.Context, _ Subject) (context.Context, func(State)) {
	return ctx, func(State) {}
}
