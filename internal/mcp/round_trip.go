package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// A roundTrip is one request of a call in the modern era (MCP 2026-07-28, Multi
// Round-Trip Requests): it goes on until the run has ended or has questions,
// which are the request's result. The client answers them with the next one.
type roundTrip struct {
	*follower
	openInputs  map[string]openInput // open questions, by key
	expectsMore bool                 // further questions follow at once
	isContinued bool                 // the run's state was given out before
	callDigest  []byte
	becomesTask bool // the call is a task as soon as nothing is asked any more
	// earlyResponses are the answers that came with the call's first request: a client
	// may know what it will be asked.
	earlyResponses map[string]json.RawMessage
	// waitTimer ends the round when what it waits for does not come; nil while it
	// waits for the run alone.
	waitTimer *time.Timer
}

type openInput struct {
	inputState
	request clientRequest
}

// How long a round waits for what is about to come.
const (
	// moreQuestionsWait is for questions that were announced to follow at once.
	moreQuestionsWait = 100 * time.Millisecond
	// pageAnswerWait is for the answer on Beam's page, once the person agreed to
	// open it. Then the client is asked again, so that it knows.
	pageAnswerWait = 10 * time.Second
)

// serveRoundTrip serves one request.
func (c *call) serveRoundTrip(inFlight *inFlightRequest, p *requestParams) reply {
	ctx := inFlight.newContext()
	r := &roundTrip{follower: c.newFollower(c.sender, inFlight), earlyResponses: p.Responses, openInputs: map[string]openInput{}, callDigest: digestCall(p.Name, p.Arguments), becomesTask: c.becomesTaskAfterAsking()}
	switch {
	case p.RequestState != "":
		if err := r.resumeFromState(ctx, p); err != nil {
			if errors.Is(err, errInvalidState) || errors.Is(err, errStateExpired) {
				return errorReply(c.requestID, rpcErrorf(mcp.INVALID_PARAMS, "%v", err))
			}
			return c.internalErrorReply(err)
		}
	case c.isResume:
		if ended, over := r.rejoinAsRoundTrip(ctx); over {
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

// followRoundTrip goes on until the round is over.
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
		answer, over := r.collectUntilDue(ctx, cancel)
		if !over && context.Cause(ctx) == errWaitExpired { // for what was settled meanwhile
			cancel(nil)
			ctx, cancel = context.WithCancelCause(parent)
			r.resetWaitTimer(cancel)
			continue
		}
		if !over && ctx.Err() == nil {
			answer, over = r.runDueActions(ctx)
		}
		switch {
		case answer.message != nil:
			return answer
		case over || ctx.Err() != nil:
			return r.endRoundTrip(ctx)
		}
	}
}

// collectUntilDue goes on until the round is over or something else is due. An empty
// answer at the end is none.
func (r *roundTrip) collectUntilDue(ctx context.Context, cancel context.CancelCauseFunc) (answer reply, over bool) {
	ctx, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	r.setWakeFunc(func() { wake(errTimerDue) })
	batches, err := r.server.engine.Follow(ctx, r.client.caller, r.runID, r.lastSent)
	if err != nil {
		return r.internalErrorReply(err), true
	}
	for batch, err := range batches {
		for _, e := range batch {
			if cause := r.inFlight.cancelCause(); err == nil && cause != nil {
				return reply{}, true
			}
			if err == nil {
				// What is recorded is not broken off when the round is late.
				err = r.collectEntry(context.WithoutCancel(ctx), e)
			}
			if err == nil && e.Kind == runlog.KindFinished {
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
		case err == nil:
			r.resetWaitTimer(cancel)
			r.scheduleTimer()
		}
	}
	switch context.Cause(ctx) {
	case errWaitExpired:
		switch {
		case len(r.openInputs) > 0:
			return r.inputRequiredReply(), true
		case r.becomesTask:
			return r.taskCreatedReply(), true
		}
		return reply{}, false
	case errTimerDue:
		return reply{}, false
	}
	return reply{}, true
}

// errWaitExpired ends the wait for what did not come in time.
var errWaitExpired = errors.New("late")

// resetWaitTimer bounds how long the round waits while it has questions.
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

// isReadyToAsk tells whether the client can be asked now: there are questions, all
// that were announced are there, and none is being answered on Beam's page.
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

// collectEntry tells one entry.
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
		s, err := runlog.Decode[settlement](e)
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

// inputRequiredReply is the round's result: the questions that are open.
func (r *roundTrip) inputRequiredReply() reply {
	progress, sent := r.state.Progress.Last()
	st := requestState{
		Run: r.runID, After: r.lastSent, Inputs: map[string]inputState{}, Progress: progress, ProgressSent: sent,
		Owner: r.client.caller.Owner(), Digest: r.callDigest,
	}
	requests := map[string]inputRequest{}
	for key, q := range r.openInputs {
		st.Inputs[key] = q.inputState
		requests[key] = inputRequest{q.request.Method, q.request.Params}
	}
	sealed, err := r.server.stateSealer.sealState(st)
	if err != nil {
		return r.internalErrorReply(err)
	}
	if err := r.keepRunForState(); err != nil {
		return r.internalErrorReply(err)
	}
	result := inputRequiredResult{r.server.newResultBase(r.client, "input_required"), requests, sealed}
	return reply{message: encodeResult(r.requestID, result)}
}

type (
	inputRequiredResult struct {
		resultBase
		Requests map[string]inputRequest `json:"inputRequests,omitempty"`
		State    string                  `json:"requestState"`
	}
	inputRequest struct {
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}
)

// endRoundTrip ends a round whose request ended before its run. A run that can be taken
// up again waits; nobody could come back to any other.
func (r *roundTrip) endRoundTrip(ctx context.Context) reply {
	if !r.call.isResume && (errors.Is(context.Cause(ctx), errRequestCancelled) || !r.isContinued && !r.photon.Options().Durable) {
		r.cancelRun()
	} else if err := r.keepRunForState(); err != nil {
		r.server.logger.Error("leaving a run", "run", r.runID, "err", err)
	}
	return reply{}
}

// keepRunForState leaves the run to whoever has its state. When the state has expired
// nobody has; a durable run, and one with a handle, waits on for an answer from
// elsewhere.
func (r *roundTrip) keepRunForState() error {
	if r.photon.Options().Durable || r.call.isResume {
		return nil
	}
	return r.server.engine.SetIdleTimeout(r.client.caller, r.runID, stateLifetime)
}
