package engine

import (
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// applyEntry takes in one entry: it moves the run's state and, where a generator
// waits here, replies to it. Callers hold mu and apply every entry once, in
// order.
func (r *trackedRun) applyEntry(e runlog.Entry) {
	before, asks := r.state, len(r.openAsks)
	r.lastSeq = e.Seq
	r.logBytes += int64(len(e.Data))
	if e.Kind.IsEvent() {
		r.eventCount++
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if err := r.applyByKind(e); err != nil {
		r.engine.logger.Error("reading a run's log", "run", r.id, "err", err)
	}
	if !r.state.Ended() {
		r.state = Running
		if len(r.openAsks) > 0 {
			r.state = Waiting
		}
	}
	if before != r.state && r.poll != nil {
		r.poll.stateChangedAt = e.Time.Round(0)
	}
	if r.loading {
		return // nobody waits for it, and the lists don't have it
	}
	r.engine.counters.countStateChange(before, r.state, e.Seq == 1)
	if before != r.state || asks != len(r.openAsks) {
		r.engine.index.updateState(r, before, r.state)
		r.updateClock()
	}
	r.updateResidency()
	r.wakeWaiters()
}

func (r *trackedRun) applyByKind(e runlog.Entry) error {
	switch e.Kind {
	case kindStatus:
		return r.applyStatus(e)
	case runlog.KindClaimed:
		c, err := runlog.Decode[runlog.Claimed](e)
		if c.Epoch > r.epoch {
			r.epoch = c.Epoch
			if r.worker != nil {
				r.stopGenerator(generators.ErrSuspended) // another process has the run now
			}
		}
		return err
	case runlog.KindAsked:
		return r.applyAsked(e)
	case runlog.KindAnswered:
		a, err := runlog.Decode[runlog.Answered](e)
		if err != nil {
			return err
		}
		r.applyAnswered(a)
		r.restartIdleTimer()
	case runlog.KindWithdrawn:
		w, err := runlog.Decode[runlog.Withdrawn](e)
		if err != nil {
			return err
		}
		r.applyWithdrawn(w)
	case runlog.KindStepped:
		s, err := runlog.Decode[runlog.Stepped](e)
		r.restoreTimeSpent(s.TimeSpent)
		return err
	case runlog.KindFinished:
		f, err := runlog.Decode[runlog.Finished](e)
		r.state, r.endedAt = State(f.Status), e.Time.Round(0)
		r.errorText = f.Error
		r.restoreTimeSpent(f.TimeSpent)
		r.stopGenerator(generators.ErrStopped)
		if err := r.engine.keys.deleteKey(r.id); err != nil {
			r.engine.logger.Error("removing a run's key", "run", r.id, "err", err)
		}
		r.stopIdleTimer()
		return err
	}
	return nil
}

// restoreTimeSpent takes the time that a run has spent from its log, unless the worker that
// measures it is here.
func (r *trackedRun) restoreTimeSpent(spent ask.Millis) {
	if r.worker == nil {
		r.timeSpent = time.Duration(spent)
	}
}

// An askTiming is what is kept of a question that the log has.
type askTiming struct {
	Deadline time.Time  `json:"deadline"`
	Spent    ask.Millis `json:"spent"`
}

// applyAsked opens a question and starts its deadline.
func (r *trackedRun) applyAsked(e runlog.Entry) error {
	a := &openAsk{run: r, seq: e.Seq, askedAt: e.Time.Round(0)}
	if r.worker != nil {
		asked, err := runlog.Decode[runlog.Asked](e)
		if err != nil {
			return err
		}
		a.expiresAt = asked.Deadline
		if c := r.worker.recordingAsk; c != nil && c.Key == asked.Key {
			a.call, a.callIsCurrent = c, true // before anybody can answer
		}
	} else {
		o, err := runlog.Decode[askTiming](e)
		if err != nil {
			return err
		}
		a.expiresAt, r.timeSpent = o.Deadline, time.Duration(o.Spent)
	}
	r.openAsks = append(r.openAsks, a)
	if !r.loading {
		r.engine.deadlines.scheduleExpiry(a)
		r.engine.index.addAsk(r, a)
	}
	return nil
}

func (r *trackedRun) applyAnswered(a runlog.Answered) {
	o := r.findOpenAsk(a.AskSeq)
	if o == nil {
		return
	}
	r.settleAsk(o, func(r *trackedRun) generators.Reply { return r.answeredReply(a) })
}

// settleAsk closes a question. If a generator waits, it gets the reply; if it is
// being replayed and has not come to the question yet, it will get it then.
func (r *trackedRun) settleAsk(o *openAsk, reply func(*trackedRun) generators.Reply) {
	r.forgetOpenAsk(o)
	switch {
	case o.call != nil:
		o.call.Settle(reply(r))
	case r.worker != nil && r.worker.history != nil:
		r.worker.history.settleCall(o.seq, reply)
	case r.canResume() && !r.loading:
		r.queueResume()
	}
}

func (r *trackedRun) applyWithdrawn(w runlog.Withdrawn) {
	if o := r.findOpenAsk(w.AskSeq); o != nil {
		r.settleAsk(o, func(*trackedRun) generators.Reply { return withdrawnReply(w) })
	}
}

// answeredReply turns a recorded answer into what the generator gets.
func (r *trackedRun) answeredReply(a runlog.Answered) generators.Reply {
	answer := a.Answer
	if a.Sealed != nil {
		content, err := r.engine.keys.unseal(r.id, a.Sealed)
		if err != nil {
			return generators.Reply{Err: err}
		}
		answer.Content = content
	}
	reply := answer.Reply()
	reply.Open = r.blobOpener()
	return reply
}
