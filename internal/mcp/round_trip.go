package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/runlog"
)

// A roundTrip serves one request of a call in the modern era (MCP 2026-07-28, Multi
// Round-Trip Requests). It lasts until the run has ended or has questions, which are
// then the request's result. The client answers them with its next request.
type roundTrip struct {
	*follower
	openInputs  map[string]openInput // open questions, by key
	expectsMore bool                 // the photon asks further questions at once
	isContinued bool                 // the client has had the run's requestState before
	callDigest  []byte
	becomesTask bool // the call becomes a task once no question is open
	// earlyResponses are answers that came with the call's first request, from a client
	// that knows what it will be asked.
	earlyResponses map[string]json.RawMessage
	// waitTimer ends the round trip if what it waits for does not come in time. It is
	// nil while the round trip waits only for the run.
	waitTimer *time.Timer
}

// An openInput is an open question and the request that asks it.
type openInput struct {
	inputState
	request msg.Request
}

// How long a round trip waits before it returns its open questions.
const (
	// moreQuestionsWait is the wait for further questions that the photon announced.
	moreQuestionsWait = 100 * time.Millisecond
	// pageAnswerWait is the wait for an answer on Beam's page after the user agreed to
	// open it. After that, the client is asked again, so that it can show that the
	// question is open.
	pageAnswerWait = 10 * time.Second
)

// serveRoundTrip serves one request of a call.
func (c *call) serveRoundTrip(inFlight *inFlightRequest, p *requestParams) reply {
	ctx := inFlight.newContext()
	r := &roundTrip{follower: c.newFollower(c.sender, inFlight), earlyResponses: p.Responses, openInputs: map[string]openInput{}, callDigest: digestCall(p.Name, p.Arguments), becomesTask: c.becomesTaskAfterAsking()}
	switch {
	case p.RequestState != "":
		if err := r.resumeFromState(ctx, p); err != nil {
			if errors.Is(err, errInvalidState) || errors.Is(err, errStateExpired) {
				return errorReply(c.requestID, msg.Errorf(mcp.INVALID_PARAMS, "%v", err))
			}
			return c.internalErrorReply(err)
		}
	case c.isResume:
		if ended, done := r.rejoinAsRoundTrip(ctx); done {
			return ended
		}
	default:
		if refused := c.startRun(ctx, p); refused != nil {
			return *refused
		}
	}
	if r.becomesTask && r.isContinued && len(r.openInputs) == 0 {
		return r.taskCreatedReply()
	}
	return r.followRoundTrip(ctx)
}

// followRoundTrip follows the run until the round trip is over, and returns its reply.
func (r *roundTrip) followRoundTrip(parent context.Context) reply {
	ctx, cancel := context.WithCancelCause(parent)
	defer func() {
		cancel(nil)
		if r.waitTimer != nil {
			r.waitTimer.Stop()
		}
	}()
	defer r.stopWaiting()
	info, err := r.server.engine.Info(r.client.caller, r.runID)
	if err != nil {
		return r.internalErrorReply(err)
	}
	if info.LastSeq <= r.lastSent && r.isReadyToAsk() {
		return r.inputRequiredReply()
	}
	r.resetWaitTimer(cancel)
	for {
		answer, done := r.collectUntilDue(ctx, cancel)
		if !done && context.Cause(ctx) == errWaitExpired { // the questions were settled meanwhile
			cancel(nil)
			ctx, cancel = context.WithCancelCause(parent)
			r.resetWaitTimer(cancel)
			continue
		}
		if !done && ctx.Err() == nil {
			answer, done = r.runDueActions(ctx)
		}
		switch {
		case answer.message != nil:
			return answer
		case done || ctx.Err() != nil:
			return r.endRoundTrip(ctx)
		}
	}
}

// collectUntilDue follows the run until the round trip is over or a timer is due. The
// reply may be empty although the round trip is over.
func (r *roundTrip) collectUntilDue(ctx context.Context, cancel context.CancelCauseFunc) (answer reply, done bool) {
	ctx, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	r.setWakeFunc(func() { wake(errTimerDue) })
	batches, err := r.server.engine.Follow(ctx, r.client.caller, r.runID, r.lastSent)
	if err != nil {
		return r.internalErrorReply(err), true
	}
	for batch, err := range batches {
		if answer, done := r.collectBatch(ctx, batch, err); done {
			return answer, true
		}
		if err == nil {
			r.resetWaitTimer(cancel)
			r.scheduleTimer()
		}
	}
	switch context.Cause(ctx) {
	case errWaitExpired:
		return r.expiredWaitReply()
	case errTimerDue:
		return reply{}, false
	}
	return reply{}, true
}

// collectBatch handles a batch of entries, or the error of reading it. It returns the
// round trip's reply if that ends it. An error after the end of ctx does not.
func (r *roundTrip) collectBatch(ctx context.Context, batch []runlog.Entry, err error) (answer reply, done bool) {
	for _, e := range batch {
		if err != nil {
			break
		}
		if r.inFlight.cancelCause() != nil {
			return reply{}, true
		}
		// An expired wait must not interrupt what is being recorded.
		if err = r.collectEntry(context.WithoutCancel(ctx), e); err == nil && e.Kind == runlog.KindFinished {
			return r.buildFinalReply(ctx, e), true
		}
	}
	switch {
	case errors.Is(err, errClientGone):
		return reply{}, true
	case err != nil && ctx.Err() == nil:
		return r.internalErrorReply(err), true
	case err == nil && r.isReadyToAsk():
		return r.inputRequiredReply(), true
	}
	return reply{}, false
}

// expiredWaitReply returns the reply when waitTimer has fired. The round trip goes on if
// its questions were settled meanwhile.
func (r *roundTrip) expiredWaitReply() (answer reply, done bool) {
	switch {
	case len(r.openInputs) > 0:
		return r.inputRequiredReply(), true
	case r.becomesTask:
		return r.taskCreatedReply(), true
	}
	return reply{}, false
}

// errWaitExpired is the cause when waitTimer fires.
var errWaitExpired = errors.New("the wait has expired")

// resetWaitTimer sets waitTimer for what the round trip waits for now.
func (r *roundTrip) resetWaitTimer(cancel context.CancelCauseFunc) {
	if r.waitTimer != nil {
		r.waitTimer.Stop()
		r.waitTimer = nil
	}
	wait := pageAnswerWait
	switch {
	case len(r.openInputs) == 0 && r.becomesTask:
		wait = firstQuestionWait
	case len(r.openInputs) == 0:
		return
	case r.expectsMore:
		wait = moreQuestionsWait
	}
	r.waitTimer = time.AfterFunc(wait, func() { cancel(errWaitExpired) })
}

// isReadyToAsk reports whether the round trip can return its questions: there are some,
// no more are announced, and at least one is not being answered on Beam's page.
func (r *roundTrip) isReadyToAsk() bool {
	if len(r.openInputs) == 0 || r.expectsMore {
		return false
	}
	for q := range maps.Values(r.openInputs) {
		if !q.Consented {
			return true
		}
	}
	return false
}

// collectEntry handles one entry of the run's log.
func (r *roundTrip) collectEntry(ctx context.Context, e runlog.Entry) (err error) {
	defer func() {
		if err == nil {
			r.lastSent = e.Seq
		}
	}()
	switch e.Kind {
	case runlog.KindAsked:
		return r.collectQuestion(ctx, e.Seq)
	case runlog.KindAnswered, runlog.KindWithdrawn:
		s, err := runlog.Decode[msg.Settlement](e)
		r.removeInput(s.AskSeq)
		r.forgetLink(s.AskSeq)
		return err
	}
	return r.sendEvent(e)
}

func (r *roundTrip) collectQuestion(ctx context.Context, seq uint64) error {
	open, err := r.server.engine.OpenAsk(ctx, r.client.caller, runlog.AskID(r.runID, seq))
	switch {
	case errors.Is(err, engine.ErrSettled), errors.Is(err, engine.ErrAskNotFound):
		return nil
	case err != nil:
		return err
	}
	r.expectsMore = open.More
	response := r.earlyResponses[open.Key]
	delete(r.earlyResponses, open.Key)
	return r.addInput(ctx, open.Key, inputState{Seq: seq}, open, response)
}

func (r *roundTrip) removeInput(seq uint64) {
	maps.DeleteFunc(r.openInputs, func(_ string, q openInput) bool { return q.Seq == seq })
}
