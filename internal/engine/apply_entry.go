package engine

import (
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

// applyEntry applies one entry: it updates the run's state and, if a generator
// here waits for the entry, replies to it. Callers hold mu and apply every entry
// once, in order.
func (r *trackedRun) applyEntry(e runlog.Entry) {
	oldState, oldAsks, oldSleeps, wasQueued := r.state, len(r.openAsks), len(r.sleeps), r.queued
	r.lastSeq = e.Seq
	r.logBytes += int64(len(e.Data))
	if e.Kind.IsEvent() {
		r.eventCount++
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if err := r.applyByKind(e); err != nil {
		r.engine.logger.Error("applying a log entry", "run", r.id, "err", err)
	}
	r.updateState()
	if oldState != r.state && r.poll != nil {
		r.poll.stateChangedAt = e.Time.Round(0)
	}
	if r.loading {
		return // nobody waits for the run, and the lists don't have it yet
	}
	r.engine.counters.countStateChange(oldState, r.state, e.Seq == 1)
	if oldState != r.state || oldAsks != len(r.openAsks) || oldSleeps != len(r.sleeps) || wasQueued != r.queued {
		r.engine.index.updateState(r, oldState, r.state)
		r.updateClock()
	}
	r.updateEvictionQueue()
	r.wakeWaiters()
}

// updateState sets the state of a run that has not ended.
func (r *trackedRun) updateState() {
	switch {
	case r.state.Ended():
	case len(r.openAsks) > 0:
		r.state = Waiting
	case len(r.sleeps) > 0:
		r.state = Sleeping
	default:
		r.state = Running
	}
}

// applyByKind applies what an entry of each kind means for the run. Other events,
// and kinds that this version doesn't know, change nothing here: they stay in
// the log, and followers receive them.
func (r *trackedRun) applyByKind(e runlog.Entry) error {
	switch e.Kind {
	case kindStatus:
		return r.applyStatus(e)
	case runlog.KindQueued:
		return r.applyQueued()
	case runlog.KindClaimed:
		return r.applyClaimed(e)
	case runlog.KindAsked:
		return r.applyAsked(e)
	case runlog.KindAnswered:
		return r.applyAnswered(e)
	case runlog.KindWithdrawn:
		return r.applyWithdrawn(e)
	case runlog.KindSleeping:
		return r.applySleeping(e)
	case runlog.KindWoken:
		return r.applyWoken(e)
	case runlog.KindStepped:
		return r.applyStepped(e)
	case runlog.KindRepeated:
		return r.applyRepeated(e)
	case runlog.KindAdopted:
		return r.applyAdopted(e)
	case runlog.KindSampling:
		return r.applySampling(e)
	case runlog.KindFinished:
		return r.applyFinished(e)
	}
	return nil
}

// applyClaimed stops the worker here if another process has claimed the run.
func (r *trackedRun) applyClaimed(e runlog.Entry) error {
	r.leaveQueue()
	c, err := runlog.Decode[runlog.Claimed](e)
	if c.Epoch > r.epoch {
		r.epoch = c.Epoch
		if r.worker != nil {
			r.stopGenerator(generators.ErrSuspended)
		}
	}
	return err
}

func (r *trackedRun) applyStepped(e runlog.Entry) error {
	s, err := runlog.Decode[runlog.Stepped](e)
	r.restoreTimeSpent(s.TimeSpent)
	return err
}

// applyRepeated notes that what a step yielded before is superseded.
func (r *trackedRun) applyRepeated(e runlog.Entry) error {
	repeated, err := runlog.Decode[runlog.Repeated](e)
	if r.repeated == nil {
		r.repeated = make(map[string]uint64)
	}
	r.repeated[repeated.Key] = e.Seq
	return err
}

// applyFinished ends the run. Its generator is stopped and its key deleted.
func (r *trackedRun) applyFinished(e runlog.Entry) error {
	f, err := runlog.Decode[runlog.Finished](e)
	r.state, r.endedAt = State(f.Status), e.Time.Round(0)
	r.reason, r.errorText = f.Reason(), outcome.TextForPeople(&f)
	if r.poll != nil {
		end := f
		end.Result, end.Content, end.ResultPreview = nil, nil, ""
		r.poll.end = &end
	}
	r.restoreTimeSpent(f.TimeSpent)
	r.stopGenerator(generators.ErrStopped)
	if r.drivers > 0 && !isGeneratorEnd(f) {
		r.engine.index.setReturning(r, true)
	}
	r.sleeps, r.queued = nil, false
	r.releaseKey()
	if err := r.engine.keys.Delete(r.id); err != nil {
		r.engine.logger.Error("deleting a run's key", "run", r.id, "err", err)
	}
	r.stopIdleTimer()
	return err
}

// restoreTimeSpent sets the time that the run has spent to what its log says,
// unless a worker here measures it.
func (r *trackedRun) restoreTimeSpent(spent ask.Millis) {
	if r.worker == nil {
		r.timeSpent = time.Duration(spent)
	}
}

// An askSummary is the part of a recorded question that the engine keeps in memory.
type askSummary struct {
	Deadline time.Time         `json:"deadline"`
	Spent    ask.Millis        `json:"spent"`
	Question audience.Audience `json:"question"`
}

// applyAsked opens a question and schedules its expiry.
func (r *trackedRun) applyAsked(e runlog.Entry) error {
	a := &openAsk{deadline: deadline{run: r, seq: e.Seq}, askedAt: e.Time.Round(0)}
	if r.worker != nil {
		asked, err := runlog.Decode[runlog.Asked](e)
		if err != nil {
			return err
		}
		a.due, a.audience = asked.Deadline, audience.Of(asked.Question)
		if c := r.worker.recordingCall; c != nil && r.worker.maskKey(c.Key) == asked.Key {
			a.call, a.callIsCurrent, a.evidence = c, true, asked.Evidence // set before anybody can answer
		}
	} else {
		summary, err := runlog.Decode[askSummary](e)
		if err != nil {
			return err
		}
		a.due, a.audience, r.timeSpent = summary.Deadline, summary.Question.OrNil(), time.Duration(summary.Spent)
	}
	r.openAsks = append(r.openAsks, a)
	if !r.loading {
		r.engine.deadlines.schedule(&a.deadline)
		r.engine.index.addAsk(r, a)
		r.notifySample(a)
	}
	return nil
}

// applyAnswered settles the question and restarts the run's idle timeout.
func (r *trackedRun) applyAnswered(e runlog.Entry) error {
	answered, err := runlog.Decode[runlog.Answered](e)
	if err != nil {
		return err
	}
	if a := r.findOpenAsk(answered.AskSeq); a != nil {
		r.settleAsk(a, func(r *trackedRun) generators.Reply { return r.answeredReply(answered) })
	}
	r.restartIdleTimer()
	return nil
}

func (r *trackedRun) applyWithdrawn(e runlog.Entry) error {
	withdrawn, err := runlog.Decode[runlog.Withdrawn](e)
	if err != nil {
		return err
	}
	if a := r.findOpenAsk(withdrawn.AskSeq); a != nil {
		r.settleAsk(a, func(*trackedRun) generators.Reply { return withdrawnReply(withdrawn) })
	}
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
