package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// handleResponse takes the client's response.
func (p *pendingRequest) handleResponse(m message) {
	ctx := context.Background()
	c, id := p.call, runlog.AskID(p.call.runID, p.askSeq)
	c.restartWaitClock()
	open, err := c.server.engine.OpenAsk(ctx, c.client.caller, id)
	if err == nil {
		err = p.recordAnswer(ctx, open, m)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) {
		if p.countInvalidAnswer(invalid) {
			c.session.soon(func() { p.askAgain(open.Question) })
			return
		}
		err = c.withdrawQuestion(ctx, id, runlog.Invalid, tooManyInvalidAnswers(invalid))
	}
	switch {
	case err == nil, errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound), errors.Is(err, errClientGone):
	case engine.IsTransient(err): // the client has answered, and won't be asked again
		c.server.logger.Warn("an answer can't be recorded now; it is tried again", "run", c.runID, "err", err)
		p.retryResponse(m)
	default:
		c.server.logger.Error("taking an answer", "run", c.runID, "err", err)
	}
}

// recordRetryDelay is how long an answer that can't be recorded waits for the next try.
const recordRetryDelay = time.Second

// retryResponse takes the client's response again, unless Beam ends before.
func (p *pendingRequest) retryResponse(m message) {
	time.AfterFunc(recordRetryDelay, func() {
		select {
		case <-p.call.server.engine.Closing():
		default:
			p.handleResponse(m)
		}
	})
}

// askAgain asks once more.
func (p *pendingRequest) askAgain(q *ask.Question) {
	c := p.call
	if err := p.resend(c.currentSender(), q); err != nil && !errors.Is(err, errClientGone) {
		c.server.logger.Error("asking again", "run", c.runID, "err", err)
	}
}

// resendInvalidlyAnswered asks once more what the client did not answer rightly, when its stream
// was broken.
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

// tooManyInvalidAnswers says why a question is given up.
func tooManyInvalidAnswers(invalid *generators.InvalidError) string {
	return fmt.Sprintf("%d answers of the MCP client did not fit the question: %v", maxAttempts, invalid)
}

// countInvalidAnswer notes an answer that did not fit.
func (p *pendingRequest) countInvalidAnswer(invalid *generators.InvalidError) bool {
	p.call.mu.Lock()
	defer p.call.mu.Unlock()
	p.invalidAnswers++
	p.lastInvalid = invalid
	return p.invalidAnswers < maxAttempts
}

// recordAnswer records what a response says.
func (p *pendingRequest) recordAnswer(ctx context.Context, open engine.OpenAsk, m message) error {
	c := p.call
	if m.Error != nil {
		return c.handleErrorResponse(ctx, open.ID, m.Error)
	}
	a, err := c.client.ParseAnswer(open.Question, m.Result)
	if err != nil {
		return err
	}
	if p.acceptIsConsent && a.Action == ask.Accept {
		return nil // the person answers on Beam's page
	}
	return c.server.engine.Answer(ctx, c.client.caller, open.ID, a, surfaceMCP)
}

// codeUserRejected is the code with which clients say that their user refused to let
// a model be asked (MCP, Sampling, Error Handling).
const codeUserRejected = -1

// handleErrorResponse settles a question that the client answered with an error. One that
// it only failed to ask stays open where there are links: it is as if the client
// were silent.
func (c *call) handleErrorResponse(ctx context.Context, id string, e *rpcError) error {
	if e.Code == codeUserRejected {
		return c.server.engine.Answer(ctx, c.client.caller, id, ask.Answer{Action: ask.Decline}, surfaceMCP)
	}
	if c.server.askPolicy.Link {
		return nil
	}
	return c.withdrawQuestion(ctx, id, runlog.Unsupported, "the MCP client could not ask: "+e.Message)
}
