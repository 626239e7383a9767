package engine

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// An OthersAnswerError means that a question is for others to answer; see [ask.From] and
// [ask.NotCaller]. It is [ErrOthersAnswer] to errors.Is.
type OthersAnswerError struct{ Who string }

func (e *OthersAnswerError) Error() string {
	return "this question is for others to answer: " + e.Who
}

// Is reports whether target is ErrOthersAnswer.
func (e *OthersAnswerError) Is(target error) bool { return target == ErrOthersAnswer }

// checkAdmits returns an error if a caller may not answer an open question.
func checkAdmits(a runlist.Ask, c generators.Caller) error {
	switch {
	case admits(a, c):
		return nil
	case a.Audience != nil && usableBy(c, a.Run.Owner()):
		return &OthersAnswerError{a.Audience.String()}
	}
	return ErrForbidden
}

// reservesForOwner reports whether a question is for the run's owner, who isn't the caller;
// see [audience.ReservesForOwner].
func reservesForOwner(q *ask.Question, c generators.Caller, owner string) bool {
	return q != nil && audience.ReservesForOwner(q, c, generators.Caller{ID: owner})
}

// isAddressedTo reports whether a question of a run, which may have been settled, is one
// that a caller who can't use the run may answer.
func (x questions) isAddressedTo(ctx context.Context, r *trackedRun, c generators.Caller, seq uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.FindAsk(seq); a != nil {
		return admits(r.listed(a), c)
	}
	asked, err := x.readAsked(ctx, r.id, seq)
	if err != nil || c.ID == "" {
		return false
	}
	a := audience.Of(asked.Question)
	return a != nil && a.Admits(c, audience.Starter(r.Start.StartedBy()), false)
}

// Excludes returns who may answer a question of a run, for people, if the caller, who can
// use the run, may not; otherwise it is empty.
func (x reader) Excludes(caller generators.Caller, run string, q *ask.Question) string {
	r, err := x.load(run)
	if err != nil {
		return ""
	}
	if reservesForOwner(q, caller, r.owner()) {
		return r.ownerName()
	}
	if a := audience.Of(q); a != nil && !a.Admits(caller, audience.Starter(r.Start.StartedBy()), r.isUsableBy(caller)) {
		return a.String()
	}
	return ""
}

// withdrawUnanswerable withdraws the question of a call, which has just been recorded, if
// nobody who can sign in may answer it. Callers hold mu.
func (w *worker) withdrawUnanswerable(c *generators.Call) error {
	a := w.askOf(c)
	if a == nil || a.Audience == nil {
		return nil
	}
	why := "nobody who can sign in here qualifies"
	switch {
	case a.Audience.NotCaller && audience.Starter(w.Start.StartedBy()).ID == "":
		why = "it isn't known who started the run"
	case !w.core.isUnanswerable(w.listed(a)):
		return nil
	}
	withdrawn := runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.Unsupported, Error: fmt.Sprintf("it is for %s, and %s", a.Audience, why)}
	return w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindWithdrawn, withdrawn))
}

// ReadAsk returns what the log has of a question, for a caller who may answer it and
// can't use its run: the start of the run without its arguments, the question, and how it
// was settled. The error is that of [Engine.OpenAsk], but not [ErrSettled], or the log's.
func (x reader) ReadAsk(ctx context.Context, caller generators.Caller, askID string) ([]runlog.Entry, error) {
	r, seq, err := x.findAsk(ctx, caller, askID)
	if err != nil {
		return nil, err
	}
	of := &entriesOfAsk{Rest: func(runlog.Entry) error { return nil }, seq: seq}
	for batch, err := range x.readEntries(r, x.log.Read(ctx, r.id, 0), 0, false) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			_ = entry.Visit(of) // one that can't be decoded tells nothing
		}
	}
	return of.entries, nil
}

// entriesOfAsk collects what [Engine.ReadAsk] returns of the entries that it visits.
type entriesOfAsk struct {
	runlog.Rest
	seq     uint64
	entries []runlog.Entry
}

func (o *entriesOfAsk) keep(e runlog.Entry, ask uint64) error {
	if ask == o.seq {
		o.entries = append(o.entries, e)
	}
	return nil
}

func (o *entriesOfAsk) Started(e runlog.Entry, s runlog.Started) error {
	s.Args = nil
	start := runlog.NewEntry(e.Kind, s)
	start.Seq, start.Time = e.Seq, e.Time
	return o.keep(start, o.seq)
}

func (o *entriesOfAsk) Asked(e runlog.Entry, _ runlog.Asked) error       { return o.keep(e, e.Seq) }
func (o *entriesOfAsk) Answered(e runlog.Entry, a runlog.Answered) error { return o.keep(e, a.AskSeq) }
func (o *entriesOfAsk) Withdrawn(e runlog.Entry, w runlog.Withdrawn) error {
	return o.keep(e, w.AskSeq)
}
