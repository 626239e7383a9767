package calls

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/runlog"
)

// maxAttempts is how many invalid answers a client may send to one question.
const maxAttempts = 3

// tooManyInvalidAnswers returns the reason for withdrawing a question.
func tooManyInvalidAnswers(invalid *generators.InvalidError) string {
	return fmt.Sprintf("%d answers from the MCP client were not valid: %v", maxAttempts, invalid)
}

// A responseHandler handles the response to a request that asks a question.
type responseHandler struct {
	questions *questionSender
	pending   *pendingRequest
	// forward passes the response to the process that has sent the request; nil if this one has.
	forward func()
}

var _ requests.ResponseHandler = responseHandler{}

// HandleResponse implements [requests.ResponseHandler].
func (h responseHandler) HandleResponse(m msg.Incoming) {
	h.questions.run.recordReceived(m.Raw)
	h.handle(engine.WithoutWaiting(context.Background()), m)
}

// handle records the client's answer to the question, and asks again if it is not valid.
func (h responseHandler) handle(ctx context.Context, m msg.Incoming) {
	q, r, id := h.questions, h.questions.run, h.questions.run.askID(h.pending.askSeq)
	q.noteResponse()
	open, err := r.engine.OpenAsk(ctx, r.client.Caller, id)
	if err == nil {
		err = q.recordResponse(ctx, open, m)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) {
		if h.forward != nil {
			h.forward()
			return
		}
		if q.countInvalidAnswer(h.pending, invalid) {
			q.session.QueueStep(func() { h.askAgain(&open.Asked, m) })
			return
		}
		err = r.withdraw(ctx, id, runlog.Invalid, tooManyInvalidAnswers(invalid))
	}
	switch {
	case err == nil, errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound), errors.Is(err, msg.ErrClientGone):
	case errors.Is(err, engine.ErrForbidden): // another caller has adopted the run
	case errors.Is(err, engine.ErrParked): // the log says so
	case errors.Is(err, engine.ErrMustWait):
		h.retry(m, 0)
	case engine.IsTransient(err): // the client has answered and must not be asked again
		r.logger.Warn("recording an answer failed; trying again", "run", r.id, "err", err)
		h.retry(m, recordRetryDelay)
	default:
		r.logger.Error("recording an answer", "run", r.id, "err", err)
	}
}

// recordRetryDelay is the delay before Beam retries to record an answer.
const recordRetryDelay = time.Second

// retry handles the response again after a delay, unless the engine closes before. It
// doesn't wait, but the answer may then wait for its turn.
func (h responseHandler) retry(m msg.Incoming, delay time.Duration) {
	time.AfterFunc(delay, func() {
		select {
		case <-h.questions.run.engine.Closing():
		default:
			h.handle(engine.WithMaxWait(context.Background(), engine.TurnWait), m)
		}
	})
}

// askAgain asks the question again, whose response m is not valid.
func (h responseHandler) askAgain(asked *runlog.Asked, m msg.Incoming) {
	q := h.questions
	q.mu.Lock()
	out := q.sender
	q.mu.Unlock()
	switch err := q.resend(out, h.pending, asked); {
	case err == nil:
	case errors.Is(err, msg.ErrClientGone):
		if p := q.session.Peers(); p != nil { // one of which may have the call's stream now
			p.Forward(q.session.ID, m)
		}
	default:
		q.run.logger.Error("asking again", "run", q.run.id, "err", err)
	}
}

// noteResponse records that the client is not silent.
func (q *questionSender) noteResponse() {
	q.clock.restart(time.Now())
	q.mu.Lock()
	defer q.mu.Unlock()
	q.linksSent = false
}

// countInvalidAnswer records an invalid answer and reports whether the client may be
// asked again.
func (q *questionSender) countInvalidAnswer(p *pendingRequest, invalid *generators.InvalidError) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	p.invalidAnswers++
	p.lastInvalid = invalid
	return p.invalidAnswers < maxAttempts
}

// recordResponse records what a response says of a question. A question that the client
// merely failed to ask may stay open.
func (q *questionSender) recordResponse(ctx context.Context, open engine.OpenAsk, m msg.Incoming) error {
	switch e := m.Error; {
	case e == nil:
		_, err := q.run.recordAnswer(ctx, open, m.Result)
		return err
	case e.Code == msg.CodeUserRejected:
		return q.run.engine.Answer(ctx, q.run.client.Caller, open.ID, askdata.Answer{Action: askdata.Decline}, msg.Surface)
	case q.policy.Link: // it stays open, as if the client had not responded
		return nil
	default:
		return q.run.withdraw(ctx, open.ID, runlog.Unsupported, "the MCP client could not ask: "+e.Message)
	}
}
