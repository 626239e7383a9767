package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/recording"
	"github.com/photon-beam/beam/internal/runlog"
)

// HandleResponse implements [requests.ResponseHandler].
func (p *pendingRequest) HandleResponse(m msg.Incoming) {
	p.call.record(recording.In, m.Raw)
	p.handleResponse(engine.WithoutWaiting(context.Background()), m)
}

// handleResponse records the client's answer to the question, and asks again if it is not
// valid.
func (p *pendingRequest) handleResponse(ctx context.Context, m msg.Incoming) {
	c, id := p.call, runlog.AskID(p.call.runID, p.askSeq)
	c.restartWaitClock()
	open, err := c.server.engine.OpenAsk(ctx, c.client.caller, id)
	if err == nil {
		err = p.recordAnswer(ctx, open, m)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) {
		if p.countInvalidAnswer(invalid) {
			c.session.queueStep(func() { p.askAgain(&open.Asked) })
			return
		}
		err = c.withdrawQuestion(ctx, id, runlog.Invalid, tooManyInvalidAnswers(invalid))
	}
	switch {
	case err == nil, errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound), errors.Is(err, msg.ErrClientGone):
	case errors.Is(err, engine.ErrForbidden): // another caller has adopted the run
	case errors.Is(err, engine.ErrMustWait):
		p.retryResponse(m, 0)
	case engine.IsTransient(err): // the client has answered and must not be asked again
		c.server.logger.Warn("recording an answer failed; trying again", "run", c.runID, "err", err)
		p.retryResponse(m, recordRetryDelay)
	default:
		c.server.logger.Error("recording an answer", "run", c.runID, "err", err)
	}
}

// recordRetryDelay is the delay before Beam retries to record an answer.
const recordRetryDelay = time.Second

// retryResponse handles the response again after a delay, unless the engine closes
// before. It doesn't wait, but the answer may then wait for its turn.
func (p *pendingRequest) retryResponse(m msg.Incoming, delay time.Duration) {
	time.AfterFunc(delay, func() {
		select {
		case <-p.call.server.engine.Closing():
		default:
			p.handleResponse(engine.WithMaxWait(context.Background(), engine.TurnWait), m)
		}
	})
}

// askAgain asks the question again.
func (p *pendingRequest) askAgain(asked *runlog.Asked) {
	c := p.call
	if err := p.resend(c.currentSender(), asked); err != nil && !errors.Is(err, msg.ErrClientGone) {
		c.server.logger.Error("asking again", "run", c.runID, "err", err)
	}
}

// resendInvalidlyAnswered repeats the questions that the client had answered invalidly
// before its stream broke off.
func (f *follower) resendInvalidlyAnswered(ctx context.Context) error {
	f.mu.Lock()
	var again []uint64
	for _, p := range f.pending {
		if p.invalidAnswers > 0 && p.askSeq <= f.lastSent {
			again = append(again, p.askSeq)
		}
	}
	f.mu.Unlock()
	slices.Sort(again)
	for _, seq := range again {
		if err := f.sendQuestion(ctx, seq); err != nil {
			return err
		}
	}
	return nil
}

// tooManyInvalidAnswers returns the reason for withdrawing a question.
func tooManyInvalidAnswers(invalid *generators.InvalidError) string {
	return fmt.Sprintf("%d answers from the MCP client were not valid: %v", maxAttempts, invalid)
}

// countInvalidAnswer records an invalid answer and reports whether the client may be
// asked again.
func (p *pendingRequest) countInvalidAnswer(invalid *generators.InvalidError) bool {
	p.call.mu.Lock()
	defer p.call.mu.Unlock()
	p.invalidAnswers++
	p.lastInvalid = invalid
	return p.invalidAnswers < maxAttempts
}

// recordAnswer records what a response says.
func (p *pendingRequest) recordAnswer(ctx context.Context, open engine.OpenAsk, m msg.Incoming) error {
	c := p.call
	if m.Error != nil {
		return c.handleErrorResponse(ctx, open.ID, m.Error)
	}
	_, err := c.recordClientAnswer(ctx, open, m.Result)
	return err
}

// handleErrorResponse settles a question to which the client responded with an error.
// If there are links, a question that the client merely failed to ask stays open, as if
// the client had not responded.
func (c *call) handleErrorResponse(ctx context.Context, id string, e *msg.Error) error {
	if e.Code == msg.CodeUserRejected {
		return c.server.engine.Answer(ctx, c.client.caller, id, ask.Answer{Action: ask.Decline}, msg.Surface)
	}
	if c.server.askPolicy.Link {
		return nil
	}
	return c.withdrawQuestion(ctx, id, runlog.Unsupported, "the MCP client could not ask: "+e.Message)
}

// recordClientAnswer records a client's result for an open question, unless it is merely
// the user's consent to open Beam's page.
func (c *call) recordClientAnswer(ctx context.Context, open engine.OpenAsk, result json.RawMessage) (consented bool, err error) {
	a, err := c.client.ParseAnswer(open.Question, result)
	if err != nil {
		return false, err
	}
	if msg.IsConsent(open.Question, a) {
		return true, nil
	}
	return false, c.server.engine.AnswerShown(ctx, c.client.caller, open.ID, a, msg.Surface, msg.RenderingOf(open.Question))
}
