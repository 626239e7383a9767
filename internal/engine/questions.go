package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A waitingCall is a call of the generator here that waits for the answer to a question, or the
// end of a sleep.
type waitingCall struct {
	*driver.Call
	seq uint64 // the ordinal of its entry
	// isCurrent means that the call has its question as it was recorded. If it is false, only the
	// log has it.
	isCurrent bool
	evidence  string // if isCurrent, the digest of what the question shows
}

// waitingCall returns the call that waits for the reply to an entry; nil if none does.
func (w *worker) waitingCall(seq uint64) *waitingCall {
	if w == nil {
		return nil
	}
	for _, c := range w.calls {
		if c.seq == seq {
			return c
		}
	}
	return nil
}

// waitFor lets the call that is being recorded wait for the reply to its entry, which has a key.
func (w *worker) waitFor(key string, c waitingCall) {
	if w != nil && w.recordingCall != nil && w.secrets.Key(w.recordingCall.Key) == key {
		c.Call = w.recordingCall
		w.calls = append(w.calls, &c)
	}
}

// askOf returns the open question of a call; nil if there is none.
func (w *worker) askOf(call *driver.Call) *runstate.Ask {
	for _, c := range w.calls {
		if c.Call == call {
			return w.FindAsk(c.seq)
		}
	}
	return nil
}

// withdrawCall withdraws the question of a call for its generator, unless it has been settled. It
// takes mu.
func (w *worker) withdrawCall(c *driver.Call, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.askOf(c)
	if w.worker != w || a == nil {
		return
	}
	ctx := w.core.ctx
	withdrawn := runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.TakenBack, Error: truncateText(w.secrets.Text(reason))}
	err := questions{w.core}.settle(ctx, w.trackedRun, a.Seq, runlog.NewEntry(runlog.KindWithdrawn, withdrawn))
	if err != nil && !errors.Is(err, ErrSettled) && ctx.Err() == nil {
		w.core.logger.Error("withdrawing a question", "run", w.id, "err", err)
		c.Settle(withdrawnReply(withdrawn)) // the generator goes on; the end of the run settles the question
	}
}

// withdrawUnanswerable withdraws the question of a call, which has just been recorded, if nobody
// who can sign in may answer it.
func (w *worker) withdrawUnanswerable(c *driver.Call) error {
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

// listed returns a question of the run as rows have it. What it returns is used only while mu is
// held.
func (r *trackedRun) listed(a *runstate.Ask) runlist.Ask {
	return runlist.Ask{Ask: a, Run: &runlist.Row{ID: r.id, Run: r.Run}}
}

// describeOpen returns an open question of a run as lists and surfaces show it to a caller. The
// error is the log's. Callers hold r.mu.
func (c *core) describeOpen(ctx context.Context, r *trackedRun, a *runstate.Ask, caller generators.Caller) (OpenAsk, error) {
	asked, err := r.loadAsked(ctx, a)
	if err != nil {
		return OpenAsk{}, err
	}
	return c.describeAsk(r.listed(a), asked, caller), nil
}

// describeAsk returns an open question as lists and surfaces show it to a caller.
func (c *core) describeAsk(a runlist.Ask, asked runlog.Asked, caller generators.Caller) OpenAsk {
	r := a.Run
	o := OpenAsk{
		ID: a.ID(), Run: r.ID, Photon: r.Start.Photon, Title: r.Start.Title,
		Owner: r.Owner(), OwnerName: nameOfOwner(r.Start, r.Adopter), Since: a.AskedAt, Asked: asked,
	}
	if a.Revised != "" && asked.Question != nil {
		q := *asked.Question
		q.Message, o.Question = a.Revised, &q
	}
	switch {
	case a.Audience != nil:
		o.Unanswerable = c.isUnanswerable(a)
		o.For, o.Excluded, o.AskOnly = a.Audience.String(), !admits(a, caller), !usableBy(caller, o.Owner)
	case reservesForOwner(asked.Question, caller, o.Owner):
		o.For, o.Excluded, o.Reserved = o.OwnerName, true, true
	}
	o.SetParked(r.Parked)
	return o
}

// loadAsked returns a question as it was recorded, from memory if possible.
func (r *trackedRun) loadAsked(ctx context.Context, a *runstate.Ask) (runlog.Asked, error) {
	if asked, ok := r.askedFromCall(a); ok {
		return asked, nil
	}
	asked, err := r.core.readAsked(ctx, r.id, a.Seq)
	return asked.Asked, err
}

// askedFromCall returns the question of the call that waits here, if it is current.
func (r *trackedRun) askedFromCall(a *runstate.Ask) (asked runlog.Asked, ok bool) {
	c := r.worker.waitingCall(a.Seq)
	if c == nil || !c.isCurrent {
		return asked, false
	}
	q, _ := askdata.Of(c.Call)
	return runlog.Asked{Key: c.Key, Question: q, Deadline: a.Deadline, More: c.More, Evidence: c.evidence, Lost: r.endsWithProcess()}, true
}

// A recordedAsk is a question as it was recorded, and its JSON.
type recordedAsk struct {
	runlog.Asked
	raw json.RawMessage
}

// readAsked reads a question from the log. The error is [runlog.ErrNotFound] if the entry isn't a
// question's, or the log's.
func (c *core) readAsked(ctx context.Context, run string, seq uint64) (asked recordedAsk, err error) {
	entry, err := c.files.ReadEntry(ctx, run, seq)
	if err == nil {
		asked.Asked, err = runlog.Decode[runlog.Asked](entry)
	}
	if err == nil && asked.Question == nil {
		err = runlog.ErrNotFound
	}
	if err != nil {
		return recordedAsk{}, fmt.Errorf("reading the question %s: %w", runlog.AskID(run, seq), err)
	}
	asked.TimeSpent = 0 // askedFromCall has none either
	asked.raw = rawjson.Member(entry.Data, "question")
	return asked, nil
}

// notifySample calls the function of OnSample for a new question to a model, and that of OnAsk
// for any that is new.
func (r *trackedRun) notifySample(a *runstate.Ask) {
	c := r.worker.waitingCall(a.Seq)
	if c == nil || r.worker.answersAgain { // nobody is to answer it
		return
	}
	if f := r.core.onAsk; f != nil {
		f(runlog.AskID(r.id, a.Seq))
	}
	if f := r.core.onSample; f != nil && c.Kind == string(askdata.KindSample) {
		f(runlog.AskID(r.id, a.Seq))
	}
}

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
func reservesForOwner(q *askdata.Question, c generators.Caller, owner string) bool {
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
func (x reader) Excludes(caller generators.Caller, run string, q *askdata.Question) string {
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

func (o *entriesOfAsk) Asked(e runlog.Entry, _ runlog.Asked) error { return o.keep(e, e.Seq) }

func (o *entriesOfAsk) Answered(e runlog.Entry, a runlog.Answered) error { return o.keep(e, a.AskSeq) }

func (o *entriesOfAsk) Withdrawn(e runlog.Entry, w runlog.Withdrawn) error {
	return o.keep(e, w.AskSeq)
}
