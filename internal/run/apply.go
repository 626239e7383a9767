package run

import (
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// apply takes in one entry: it moves the run's state and, where a generator
// waits here, replies to it. Callers hold mu and apply every entry once, in
// order.
func (r *record) apply(e log.Entry) {
	before, asks := r.state, len(r.asks)
	r.last = e.Seq
	r.bytes += int64(len(e.Data))
	if e.Kind.IsEvent() {
		r.events++
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if err := r.takeIn(e); err != nil {
		r.engine.logger.Error("reading a run's log", "run", r.id, "err", err)
	}
	if !r.state.Ended() {
		r.state = Running
		if len(r.asks) > 0 {
			r.state = Waiting
		}
	}
	if before != r.state && r.brief != nil {
		r.brief.moved = e.Time.Round(0)
	}
	if r.reading {
		return // nobody waits for it, and the lists don't have it
	}
	r.engine.tally.moved(before, r.state, e.Seq == 1)
	if before != r.state || asks != len(r.asks) {
		r.engine.index.moved(r, before, r.state)
		r.clock()
	}
	r.warmed()
	r.wake()
}

func (r *record) takeIn(e log.Entry) error {
	switch e.Kind {
	case kindStatus:
		return r.hearStatus(e)
	case log.KindClaimed:
		c, err := log.As[log.Claimed](e)
		if c.Epoch > r.epoch {
			r.epoch = c.Epoch
			if r.work != nil {
				r.halt(generators.ErrSuspended) // another process has the run now
			}
		}
		return err
	case log.KindAsked:
		return r.ask(e)
	case log.KindAnswered:
		a, err := log.As[log.Answered](e)
		if err != nil {
			return err
		}
		r.answered(a)
		r.takenUp()
	case log.KindWithdrawn:
		w, err := log.As[log.Withdrawn](e)
		if err != nil {
			return err
		}
		r.withdrawn(w)
	case log.KindStepped:
		s, err := log.As[log.Stepped](e)
		r.hear(s.Spent)
		return err
	case log.KindFinished:
		f, err := log.As[log.Finished](e)
		r.state, r.ended = State(f.Status), e.Time.Round(0)
		r.cause = f.Error
		r.hear(f.Spent)
		r.halt(generators.ErrStopped)
		if err := r.engine.keys.forget(r.id); err != nil {
			r.engine.logger.Error("removing a run's key", "run", r.id, "err", err)
		}
		r.keep()
		return err
	}
	return nil
}

// hear takes the time that a run has spent from its log, unless the worker that
// measures it is here.
func (r *record) hear(spent ask.Millis) {
	if r.work == nil {
		r.spent = time.Duration(spent)
	}
}

// An outline is what is kept of a question that the log has.
type outline struct {
	Deadline time.Time  `json:"deadline"`
	Spent    ask.Millis `json:"spent"`
}

// ask opens a question and starts its deadline.
func (r *record) ask(e log.Entry) error {
	a := &openAsk{run: r, seq: e.Seq, since: e.Time.Round(0)}
	if r.work != nil {
		asked, err := log.As[log.Asked](e)
		if err != nil {
			return err
		}
		a.due = asked.Deadline
		if c := r.work.asking; c != nil && c.Key == asked.Key {
			a.call, a.live = c, true // before anybody can answer
		}
	} else {
		o, err := log.As[outline](e)
		if err != nil {
			return err
		}
		a.due, r.spent = o.Deadline, time.Duration(o.Spent)
	}
	r.asks = append(r.asks, a)
	if !r.reading {
		r.engine.deadlines.add(a)
		r.engine.index.asked(r, a)
	}
	return nil
}

func (r *record) answered(a log.Answered) {
	o := r.open(a.Ask)
	if o == nil {
		return
	}
	r.settle(o, func(r *record) generators.Reply { return r.reply(a) })
}

// settle closes a question. If a generator waits, it gets the reply; if it is
// being replayed and has not come to the question yet, it will get it then.
func (r *record) settle(o *openAsk, reply func(*record) generators.Reply) {
	r.drop(o)
	switch {
	case o.call != nil:
		o.call.Settle(reply(r))
	case r.work != nil && r.work.history != nil:
		r.work.history.settle(o.seq, reply)
	case r.wanted() && !r.reading:
		r.rouse()
	}
}

func (r *record) withdrawn(w log.Withdrawn) {
	if o := r.open(w.Ask); o != nil {
		r.settle(o, func(*record) generators.Reply { return withdrawnReply(w) })
	}
}

// reply turns a recorded answer into what the generator gets.
func (r *record) reply(a log.Answered) generators.Reply {
	answer := a.Answer
	if a.Sealed != nil {
		content, err := r.engine.keys.open(r.id, a.Sealed)
		if err != nil {
			return generators.Reply{Err: err}
		}
		answer.Content = content
	}
	reply := answer.Reply()
	reply.Open = r.opener()
	return reply
}
