package engine

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// applyEntry applies one entry: it updates the run's state and, if a generator here waits for the
// entry, replies to it. Every entry is applied once, in order. Own means that this process
// appended the entry: it is metered, traced and audited.
func (r *trackedRun) applyEntry(e runlog.Entry, own bool) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	wasQueued, recordedSpent := r.Queued, r.TimeSpent
	change, err := r.Run.Apply(e)
	if err == nil {
		if r.worker == nil && r.TimeSpent != recordedSpent {
			r.clock.spent = r.TimeSpent // a worker here measures it
		}
		err = e.Visit(entryEffects{r, change, own})
	}
	err = cmp.Or(err, r.source.Note(e))
	if err != nil {
		r.core.logger.Error("applying a log entry", "run", r.id, "err", err)
	}
	if change.From != r.State || change.Opened != nil || change.Settled != nil || change.FellAsleep != nil || change.Woke != nil || wasQueued != r.Queued {
		r.core.residents.recount(r)
		r.core.watchers.Notify(r.owner())
		r.updateClock()
	}
	r.updateEviction()
	r.wakeWaiters()
	if wasQueued != r.Queued || r.source != nil {
		r.updatePin()
	}
}

// entryEffects do in this process what an entry means, once it has been applied to the run's
// state. Events, and kinds that this version doesn't know, mean nothing here: they stay in the
// log, and followers receive them.
type entryEffects struct {
	*trackedRun
	change runstate.Change
	own    bool // see applyEntry
}

var _ runlog.Visitor = entryEffects{}

func (r entryEffects) Started(runlog.Entry, runlog.Started) error {
	if r.own {
		r.core.meter.RunStarted(r.Start.Photon, r.Start.Surface)
	}
	return nil
}

func (r entryEffects) Queued(runlog.Entry, runlog.Queued) error {
	r.setInactive(true)
	return nil
}

// Claimed stops the worker here if another process has claimed the run.
func (r entryEffects) Claimed(runlog.Entry, runlog.Claimed) error {
	if r.change.LeftQueue {
		r.setInactive(false)
	}
	r.lost.Store(r.lost.Load() && r.isLost())
	r.core.residents.recount(r.trackedRun)
	if r.change.Superseded && r.worker != nil {
		r.stopGenerator(generators.ErrSuspended)
	}
	return nil
}

// Asked opens a question and schedules its expiry.
func (r entryEffects) Asked(e runlog.Entry, asked runlog.Asked) error {
	if r.own {
		r.core.meter.AskOpened(asked.Question.Kind)
	}
	r.worker.waitFor(asked.Key, waitingCall{seq: e.Seq, isCurrent: true, evidence: asked.Evidence}) // before anybody can answer
	r.core.deadlines.Note(asked.Deadline)
	r.core.notifyAudience(r.listed(r.change.Opened))
	r.notifySample(r.change.Opened)
	return nil
}

// Answered settles the question and restarts the run's idle timeout.
func (r entryEffects) Answered(_ runlog.Entry, answered runlog.Answered) error {
	if r.own {
		r.auditAnswer(answered)
		open := r.observeSettlement(SupervisedAsk{
			Outcome: string(answered.Answer.Action), Surface: answered.Surface, By: answered.Caller,
			AnswerBytes: len(answered.Answer.Content) + len(answered.Sealed),
		})
		r.core.meter.AskAnswered(answered.Answer.Action, answered.Surface, open)
	}
	if answered.Sealed != nil && r.worker == nil {
		r.secretAnswers.addRecorded()
	}
	if r.change.Settled != nil {
		r.settleAsk(r.change.Settled, func() driver.Reply { return r.answeredReply(answered) })
	}
	r.idle.restart()
	return nil
}

func (r entryEffects) Withdrawn(_ runlog.Entry, withdrawn runlog.Withdrawn) error {
	if r.own {
		r.core.meter.AskWithdrawn(withdrawn.Reason, r.observeSettlement(SupervisedAsk{Outcome: string(withdrawn.Reason)}))
	}
	if r.change.Settled != nil {
		r.settleAsk(r.change.Settled, func() driver.Reply { return withdrawnReply(withdrawn) })
	}
	return nil
}

func (r entryEffects) Stepped(runlog.Entry, runlog.Stepped) error { return nil }

// Sleeping schedules the end of a sleep.
func (r entryEffects) Sleeping(e runlog.Entry, data runlog.Sleeping) error {
	r.worker.waitFor(data.Key, waitingCall{seq: e.Seq})
	r.core.deadlines.Note(data.Until)
	return nil
}

func (r entryEffects) Woken(_ runlog.Entry, woken runlog.Woken) error {
	if r.change.Woke != nil {
		r.deliverReply(woken.SleepSeq, func() driver.Reply { return driver.Reply{} })
	}
	return nil
}

func (r entryEffects) Repeated(runlog.Entry, runlog.Repeated) error { return nil }

// Parked stops the worker here, if there is one: its generator doesn't fit the log.
func (r entryEffects) Parked(runlog.Entry, runlog.Parked) error {
	r.stopGenerator(generators.ErrSuspended)
	r.setInactive(true)
	return nil
}

func (r entryEffects) Adopted(runlog.Entry, runlog.Adopted) error {
	e := r.core
	former := r.owner()
	e.residents.changeOwner(r.trackedRun, func() { r.adopter.Store(r.Adopter) })
	e.files.ChangeOwner(r.id, former, r.owner())
	e.watchers.Notify(former)
	e.watchers.Notify(r.owner())
	return nil
}

// Sampling tells the lists of a question that a person's decision may have revised.
func (r entryEffects) Sampling(_ runlog.Entry, s runlog.Sampling) error {
	if s.Approved != nil {
		r.core.watchers.Notify(r.owner())
	}
	return nil
}

// Finished stops the run's generator and deletes its key.
func (r entryEffects) Finished(_ runlog.Entry, f runlog.Finished) error {
	if r.own {
		r.core.meter.RunFinished(r.Start.Photon, f)
		r.core.keeper.RunEnded()
	}
	r.ended.Store(true) // before the key is deleted
	r.stopGenerator(generators.ErrStopped)
	if r.drivers > 0 && !journal.IsGeneratorEnd(f) {
		r.returning = true // applyEntry recounts it
	}
	if r.drivers > 0 {
		r.core.exclusive.Hold(exclusive.KeyOf(&r.Start), r.id)
	}
	r.releaseKey()
	if err := r.core.deleteKey(r.id); err != nil {
		r.core.logger.Error("deleting a run's key", "run", r.id, "err", err)
	}
	r.idle.stop()
	r.core.files.ForgetUploads(r.id)
	return nil
}

func (r entryEffects) Event(runlog.Entry) error { return nil }

// settleAsk passes the reply to a question on, which is settled.
func (r entryEffects) settleAsk(a *runstate.Ask, reply func() driver.Reply) {
	r.core.notifyAudience(r.listed(a))
	r.deliverReply(a.Seq, reply)
}

// deliverReply passes the reply to a call on. A generator that waits for it receives it. A
// generator that is being replayed and has not reached the call yet receives it there. A run
// without a generator is resumed, if the reply was recorded here, or this process holds the run.
func (r entryEffects) deliverReply(seq uint64, reply func() driver.Reply) {
	switch w := r.worker; {
	case w.waitingCall(seq) != nil:
		call := w.waitingCall(seq).Call
		w.calls = slices.DeleteFunc(w.calls, func(c *waitingCall) bool { return c.seq == seq })
		call.Settle(reply())
	case w != nil && w.history != nil:
		w.history.Settle(seq, reply)
	case (r.own || r.core.share != nil) && r.canResume():
		resumer{r.core}.queue(r.trackedRun)
	}
}

// auditAnswer records who answered a question where.
func (r entryEffects) auditAnswer(a runlog.Answered) {
	var by generators.Caller
	if a.Caller != nil {
		by = *a.Caller
	}
	event := r.auditEvent(audit.Answered, by)
	event.Ask, event.Surface, event.Action, event.Question = runlog.AskID(r.id, a.AskSeq), a.Surface, string(a.Answer.Action), a.Shown
	r.core.audit.Record(event)
}

// observeSettlement tells the supervisor and the tracer of the question that is settled, if it was
// open, and returns how long.
func (r entryEffects) observeSettlement(s SupervisedAsk) (open time.Duration) {
	a, supervisor := r.change.Settled, r.core.supervisorOf(r.photon)
	if a == nil {
		return 0
	}
	traced := SettledAsk{Seq: a.Seq, AskedAt: a.AskedAt, Outcome: s.Outcome, Surface: s.Surface}
	if _, off := r.core.tracer.(noopTracer); !off || supervisor != nil {
		if asked, err := r.loadAsked(r.core.ctx, a); err == nil {
			traced.Kind, s.Question = asked.Question.Kind, asked.Question
		}
	}
	r.core.tracer.TraceAsk(r.tracedRun(), traced)
	if supervisor != nil {
		s.ID, s.Run, s.Photon = runlog.AskID(r.id, a.Seq), r.id, r.photon
		s.Owner, s.AskedAt = r.Start.StartedBy(), a.AskedAt
		supervisor.AskSettled(s)
	}
	return time.Since(a.AskedAt)
}

// answeredReply returns the generator's reply for a recorded answer.
func (r *trackedRun) answeredReply(a runlog.Answered) driver.Reply {
	return r.replyTo(a, func(seq uint64, content []byte) {
		if r.worker != nil {
			r.worker.secrets = r.worker.secrets.Add(seq, content) // masked wherever the generator shows it
			r.secretAnswers.setGiven(r.worker.secrets)
		}
	})
}

// replyTo returns the reply for a recorded answer. It calls given with the content of a secret
// answer and its question's ordinal.
func (r *trackedRun) replyTo(a runlog.Answered, given func(seq uint64, content []byte)) driver.Reply {
	sealed := a.Sealed != nil
	for err := r.secretAnswers.unseal(&a); err != nil; err = r.secretAnswers.unseal(&a) {
		if !errors.Is(err, runlog.ErrUnavailable) {
			return driver.Reply{Err: err, By: a.Caller}
		}
		select { // the database of the keys is away
		case <-time.After(retryInterval):
		case <-r.core.acceptCtx.Done():
			return driver.Reply{Err: generators.ErrSuspended}
		}
	}
	if sealed {
		given(a.AskSeq, a.Answer.Content)
	}
	reply := a.Answer.Reply()
	reply.By, reply.Open = a.Caller, r.Files.OpenerOf(a.Answer.Files)
	if reply.Err != nil {
		reply.Err = &unansweredError{error: reply.Err, askSeq: a.AskSeq, by: r.nameOfOther(a.Caller)}
	}
	return reply
}
