package calls

import (
	"context"
	"errors"
	"time"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/session"
)

// A directCall handles a stream of the call of a client that this server can send requests
// to, up to 2025-11-25: each question is a request, and the call ends with its run.
type directCall struct {
	call    *call
	stream  *stream
	waiting *waiting
	// requestEnded is called when the stream's request has ended before the run, with the
	// cause.
	requestEnded func(cause error)
}

var _ callHandler = (*directCall)(nil)

// startDirectly starts a run, without waiting on the goroutine that reads from the client,
// and passes it to follow. If it can't be started, it passes the reply to answer.
func (s *starter) startDirectly(r *session.Request, start start, answer func(requests.Reply), follow func(*run)) {
	begin := func(ctx context.Context) error {
		run, err := s.startRun(ctx, r, start)
		switch {
		case errors.Is(err, engine.ErrMustWait):
		case err != nil:
			answer(s.startFailure(r, start, err))
		default:
			follow(run)
		}
		return err
	}
	if err := begin(engine.WithoutWaiting(r.InFlight.Parent())); errors.Is(err, engine.ErrMustWait) {
		r.Session.RunBlocking(func() { _ = begin(r.InFlight.Parent()) }) // which has answered
	}
}

// newDirectCall returns the handler and the follower of a stream of the call.
func (c *call) newDirectCall(out requests.Sender, inFlight *requests.InFlight, after uint64) (*directCall, *follower) {
	s, w := c.newStream(out, after)
	d := &directCall{call: c, stream: s, waiting: w, requestEnded: c.requestEnded}
	return d, &follower{call: c, stream: s, handler: d, inFlight: inFlight}
}

// followDirectly follows the call's run on the stream of its request, after the entry with
// an ordinal; from the beginning without sending what was, if the run is rejoined.
func (c *call) followDirectly(r *session.Request, after uint64, rejoins bool, answer func(requests.Reply)) {
	if r.Session.Resumable && !r.Session.Calls.Add(c) { // the session has ended
		c.Abandon()
		answer(requests.Reply{})
		return
	}
	d, f := c.newDirectCall(r.Sender, r.InFlight, after)
	c.questions.continueOn(d.stream.sender)
	var first step
	if rejoins {
		first = d.rejoin
	}
	f.follow(r.Session.Steps, first, answer)
}

// rejoin is the first step on a run that has been going on: it asks the questions that are
// open.
func (d *directCall) rejoin(ctx context.Context) (r requests.Reply, done bool, err error) {
	open, finished, err := d.stream.skipHistory(ctx)
	if finished != nil {
		return d.call.finish(ctx, d.stream, *finished), true, nil
	}
	if err == nil {
		d.stream.sender.SetResumeCursor(d.call.run.cursor(d.stream.last))
		err = d.sendQuestions(ctx, open)
	}
	if err != nil {
		return r, true, err
	}
	r, done = d.replyAfterBatch()
	return r, done, nil
}

// resume is the first step on a stream that follows one that broke off.
func (d *directCall) resume(ctx context.Context, after uint64) (r requests.Reply, done bool, err error) {
	if err := d.stream.catchUp(ctx, after); err != nil {
		return r, true, err
	}
	if d.call.session.Peers() != nil {
		if err := d.call.catchUpQuestions(after); err != nil {
			return r, true, err
		}
	}
	d.call.progress.resume(&d.stream.state)
	d.call.questions.noteResponse() // the client was disconnected, not silent
	if r, done := d.call.repeatHandOff(); done {
		return r, true, nil
	}
	return r, false, d.sendQuestions(ctx, d.call.questions.invalidlyAnswered(d.stream.last))
}

func (d *directCall) sendQuestions(ctx context.Context, seqs []uint64) error {
	for _, seq := range seqs {
		if err := d.handleQuestion(ctx, seq); err != nil {
			return err
		}
	}
	return nil
}

// handleQuestion implements [callHandler]. It asks the client a question, or leaves it to
// others. A question that was asked before is sent again, for a client that resumes.
func (d *directCall) handleQuestion(ctx context.Context, seq uint64) error {
	open, isOpen, err := d.call.run.openAsk(ctx, seq)
	if !isOpen {
		return err
	}
	if p := d.call.questions.find(seq); p != nil && !open.Excluded {
		return d.call.questions.resend(d.stream.sender, p, &open.Asked)
	}
	request, err := d.call.unasked.requestFor(ctx, d.stream, open, seq)
	if request == nil {
		return err
	}
	return d.call.questions.ask(d.stream.sender, seq, request)
}

// handleSettlement implements [callHandler].
func (d *directCall) handleSettlement(s msg.Settlement) error {
	return d.call.questions.settle(d.stream.sender, s, s.Describe())
}

// handleApproval implements [callHandler]. It sends the version that was approved, if the
// client was asked another one.
func (d *directCall) handleApproval(ctx context.Context, askSeq uint64) error {
	p := d.call.questions.find(askSeq)
	if p == nil {
		return nil
	}
	open, isOpen, err := d.call.run.openAsk(ctx, askSeq)
	if !isOpen {
		return err
	}
	return d.call.questions.sendNewVersion(d.stream.sender, p, open)
}

// replyAfterBatch implements [callHandler].
func (d *directCall) replyAfterBatch() (requests.Reply, bool) { return d.call.leaveForChat(false) }

// nextDeadline implements [callHandler].
func (d *directCall) nextDeadline() time.Time { return d.waiting.next(time.Now(), false) }

// handleDeadline implements [callHandler].
func (d *directCall) handleDeadline(ctx context.Context) (r requests.Reply, done bool, err error) {
	now := time.Now()
	if d.waiting.mustLeave(now) {
		if r, done := d.call.handOff(); done {
			return r, true, nil
		}
	}
	return r, false, d.waiting.sendDue(ctx, now)
}

// handleRequestEnd implements [callHandler].
func (d *directCall) handleRequestEnd(cause error) { d.requestEnded(cause) }

// requestEnded ends the call if its request has ended before the run, and nobody will
// resume it.
func (c *call) requestEnded(cause error) {
	switch {
	case errors.Is(cause, requests.ErrCancelled):
		c.Cancel()
	case errors.Is(cause, session.ErrClientLeft), errors.Is(cause, msg.ErrClientGone) && c.session.Proxied:
		c.Abandon()
	}
}
