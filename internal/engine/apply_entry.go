package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// applyEntry applies one entry: it updates the run's state and, if a generator
// here waits for the entry, replies to it. Callers hold mu and apply every entry
// once, in order.
func (r *trackedRun) applyEntry(e runlog.Entry) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	wasQueued, recordedSpent := r.Queued, r.TimeSpent
	change, err := r.Apply(e)
	if err == nil {
		if r.worker == nil && r.TimeSpent != recordedSpent {
			r.timeSpent = r.TimeSpent // a worker here measures it
		}
		err = e.Visit(entryEffects{r, change})
	}
	if err != nil {
		r.engine.logger.Error("applying a log entry", "run", r.id, "err", err)
	}
	if change.From != r.State && r.poll != nil {
		r.poll.stateChangedAt = e.Time.Round(0)
	}
	if r.loading {
		return // nobody waits for the run, and the lists don't have it yet
	}
	from := change.From
	if from == "" {
		from = Running // it was listed before its start was recorded
	}
	r.engine.counters.countStateChange(from, r.State, e.Seq == 1)
	if from != r.State || change.Opened != nil || change.Settled != nil || change.FellAsleep != nil || change.Woke != nil || wasQueued != r.Queued {
		r.engine.index.updateState(r, from, r.State)
		r.updateClock()
	}
	r.updateEvictionQueue()
	r.wakeWaiters()
}

// entryEffects do in this process what an entry means, once it has been applied to the run's
// state. Events, and kinds that this version doesn't know, mean nothing here: they stay in the
// log, and followers receive them. Callers hold the run's mu.
type entryEffects struct {
	*trackedRun
	change runstate.Change
}

var _ runlog.Visitor = entryEffects{}

func (r entryEffects) Started(runlog.Entry, runlog.Started) error { return nil }

func (r entryEffects) Queued(runlog.Entry, runlog.Queued) error {
	r.setInactive(true)
	return nil
}

// Claimed stops the worker here if another process has claimed the run.
func (r entryEffects) Claimed(runlog.Entry, runlog.Claimed) error {
	if r.change.LeftQueue {
		r.setInactive(false)
	}
	if r.change.Superseded && r.worker != nil {
		r.stopGenerator(generators.ErrSuspended)
	}
	return nil
}

// Asked opens a question and schedules its expiry.
func (r entryEffects) Asked(e runlog.Entry, asked runlog.Asked) error {
	a := &openAsk{Ask: r.change.Opened, deadline: deadline{run: r.trackedRun, seq: e.Seq, due: asked.Deadline}}
	if r.worker != nil {
		if c := r.worker.recordingCall; c != nil && r.worker.maskKey(c.Key) == asked.Key {
			a.call, a.callIsCurrent, a.evidence = c, true, asked.Evidence // set before anybody can answer
		}
	}
	r.openAsks = append(r.openAsks, a)
	if !r.loading {
		r.engine.deadlines.schedule(&a.deadline)
		r.engine.index.addAsk(r.trackedRun, a)
		r.notifySample(a)
	}
	return nil
}

// Answered settles the question and restarts the run's idle timeout.
func (r entryEffects) Answered(_ runlog.Entry, answered runlog.Answered) error {
	if r.change.Settled != nil {
		r.settleAsk(r.findOpenAsk(answered.AskSeq), func(r *trackedRun) generators.Reply { return r.answeredReply(answered) })
	}
	r.restartIdleTimer()
	return nil
}

func (r entryEffects) Withdrawn(_ runlog.Entry, withdrawn runlog.Withdrawn) error {
	if r.change.Settled != nil {
		r.settleAsk(r.findOpenAsk(withdrawn.AskSeq), func(*trackedRun) generators.Reply { return withdrawnReply(withdrawn) })
	}
	return nil
}

func (r entryEffects) Stepped(runlog.Entry, runlog.Stepped) error { return nil }

// Sleeping schedules the end of a sleep.
func (r entryEffects) Sleeping(e runlog.Entry, data runlog.Sleeping) error {
	s := &sleep{deadline: deadline{run: r.trackedRun, seq: e.Seq, due: data.Until}}
	if r.worker != nil {
		if c := r.worker.recordingCall; c != nil && r.worker.maskKey(c.Key) == data.Key {
			s.call = c
		}
	}
	r.sleeps = append(r.sleeps, s)
	if !r.loading {
		r.engine.deadlines.schedule(&s.deadline)
	}
	return nil
}

func (r entryEffects) Woken(_ runlog.Entry, woken runlog.Woken) error {
	if r.change.Woke == nil {
		return nil
	}
	s := r.findSleep(woken.SleepSeq)
	r.sleeps = slices.DeleteFunc(r.sleeps, func(o *sleep) bool { return o == s })
	if !r.loading {
		r.engine.deadlines.cancel(&s.deadline)
	}
	r.deliverReply(s.call, s.seq, wokenReply)
	return nil
}

func (r entryEffects) Repeated(runlog.Entry, runlog.Repeated) error { return nil }

func (r entryEffects) Adopted(runlog.Entry, runlog.Adopted) error {
	r.engine.index.changeOwner(r.trackedRun, r.Adopter)
	return nil
}

// Sampling tells the lists of a question that a person's decision may have revised.
func (r entryEffects) Sampling(_ runlog.Entry, s runlog.Sampling) error {
	if s.Approved != nil && !r.loading {
		r.engine.index.updateState(r.trackedRun, r.State, r.State)
	}
	return nil
}

// Finished stops the run's generator and deletes its key.
func (r entryEffects) Finished(_ runlog.Entry, f runlog.Finished) error {
	if r.poll != nil {
		end := f
		end.Result, end.Content, end.ResultPreview = nil, nil, ""
		r.poll.end = &end
	}
	r.stopGenerator(generators.ErrStopped)
	if r.drivers > 0 && !isGeneratorEnd(f) {
		r.engine.index.setReturning(r.trackedRun, true)
	}
	r.sleeps = nil
	r.releaseKey()
	if err := r.engine.keys.Delete(r.id); err != nil {
		r.engine.logger.Error("deleting a run's key", "run", r.id, "err", err)
	}
	r.stopIdleTimer()
	return nil
}

// Event keeps the latest status for callers who poll the run.
func (r entryEffects) Event(e runlog.Entry) error {
	if e.Kind != kindStatus || r.poll == nil {
		return nil
	}
	s, err := runlog.Decode[generators.StatusEvent](e)
	if err != nil {
		return err
	}
	r.poll.latestStatus = strings.Clone(humanize.TruncateBytes(s.Text, maxStatusBytes, "…"))
	return nil
}

// settleAsk closes a question. A generator that waits for it receives the reply.
// A generator that is being replayed and has not reached the question yet
// receives it there. A run without a generator is resumed.
func (r *trackedRun) settleAsk(a *openAsk, reply func(*trackedRun) generators.Reply) {
	r.forgetOpenAsk(a)
	r.deliverReply(a.call, a.seq, reply)
}

// deliverReply passes the reply to a call, which is nil if no generator here waits for
// it, on to the generator. Callers hold mu.
func (r *trackedRun) deliverReply(call *generators.Call, seq uint64, reply func(*trackedRun) generators.Reply) {
	switch {
	case call != nil:
		call.Settle(reply(r))
	case r.worker != nil && r.worker.history != nil:
		r.worker.history.settleCall(seq, reply)
	case r.canResume() && !r.loading:
		r.queueResume()
	}
}

// answeredReply returns the generator's reply for a recorded answer.
func (r *trackedRun) answeredReply(a runlog.Answered) generators.Reply {
	sealed := a.Sealed != nil
	if err := r.unsealSecret(&a); err != nil {
		return generators.Reply{Err: err, By: a.Caller}
	}
	if sealed && r.worker != nil {
		r.worker.noteSecret(a)
	}
	reply := a.Answer.Reply()
	reply.By, reply.Open = a.Caller, r.blobOpener(a.Answer.Files)
	if reply.Err != nil {
		reply.Err = &unansweredError{error: reply.Err, askSeq: a.AskSeq, by: r.nameOfOther(a.Caller)}
	}
	return reply
}
