package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
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
	// taskTime is when the call becomes a task unless a question is open; zero if it
	// doesn't.
	taskTime time.Time
	// earlyResponses are answers that came with the call's first request, from a client
	// that knows what it will be asked.
	earlyResponses map[string]json.RawMessage
	// waitUntil is when the round trip ends if what it waits for does not come before.
	// It is zero while the round trip waits only for the run.
	waitUntil time.Time
}

var _ callHandler = (*roundTrip)(nil)

// An openInput is an open question and the request that asks it.
type openInput struct {
	requeststate.Input
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
func (c *call) serveRoundTrip(inFlight *requests.InFlight, p *requestParams, answer func(reply)) {
	r := &roundTrip{
		follower: c.newFollower(c.sender, inFlight), earlyResponses: p.Responses, openInputs: map[string]openInput{},
		callDigest: requeststate.DigestCall(p.Name, p.Arguments),
	}
	if c.workFor > 0 {
		r.taskTime = time.Now().Add(c.workFor)
	}
	r.handler = r
	if ended, done := r.begin(inFlight.NewContext(), p); done {
		answer(ended)
		return
	}
	r.follow(r.askAtOnce, answer)
}

// begin starts the run, or continues one. It returns the request's reply if that ends
// the request.
func (r *roundTrip) begin(ctx context.Context, p *requestParams) (ended reply, done bool) {
	switch {
	case p.RequestState != "":
		if err := r.resumeFromState(ctx, p); err != nil {
			if errors.Is(err, requeststate.ErrInvalid) || errors.Is(err, requeststate.ErrExpired) {
				return errorReply(r.requestID, msg.Errorf(mcp.INVALID_PARAMS, "%v", err)), true
			}
			return r.internalErrorReply(err), true
		}
	case r.isResume:
		if ended, done := r.rejoinAsRoundTrip(ctx); done {
			return ended, true
		}
	default:
		if err := r.startRun(ctx, p); err != nil {
			return r.startErrorReply(err), true
		}
		r.lastSent = r.followAfter
	}
	if r.isContinued && len(r.openInputs) == 0 && r.photon.Options().Task == generators.TaskAfterAsking && r.mayBecomeTask {
		return r.becomeTask(), true
	}
	return reply{}, false
}

// askAtOnce is the round trip's first step. It ends the request if its questions are
// known already.
func (r *roundTrip) askAtOnce(context.Context) (answer reply, done bool) {
	info, err := r.server.engine.Info(r.client.caller, r.runID)
	switch {
	case err != nil:
		return r.internalErrorReply(err), true
	case info.LastSeq <= r.lastSent && r.isReadyToAsk():
		return r.inputRequiredReply(), true
	case info.LastSeq <= r.lastSent:
		if answer, done := r.leaveForChat(); done {
			return answer, true
		}
	}
	r.resetWait()
	return reply{}, false
}

// replyAfterBatch implements [callHandler].
func (r *roundTrip) replyAfterBatch() (answer reply, done bool) {
	if r.isReadyToAsk() {
		return r.inputRequiredReply(), true
	}
	if answer, done := r.leaveForChat(); done {
		return answer, true
	}
	r.resetWait()
	return reply{}, false
}

// waitDeadline implements [callHandler].
func (r *roundTrip) waitDeadline() time.Time { return r.waitUntil }

// handleExpiredWait implements [callHandler]. The round trip goes on if its questions
// were settled meanwhile.
func (r *roundTrip) handleExpiredWait() (answer reply, done bool) {
	switch {
	case len(r.openInputs) > 0:
		return r.inputRequiredReply(), true
	case !r.taskTime.IsZero():
		return r.becomeTask(), true
	}
	r.resetWait()
	return reply{}, false
}

// resetWait sets waitUntil for what the round trip waits for now.
func (r *roundTrip) resetWait() {
	switch {
	case len(r.openInputs) == 0:
		r.waitUntil = r.taskTime
	case r.expectsMore:
		r.waitUntil = time.Now().Add(moreQuestionsWait)
	default:
		r.waitUntil = time.Now().Add(pageAnswerWait)
	}
}

// hasQuestions implements [callHandler].
func (r *roundTrip) hasQuestions() bool { return len(r.openInputs) > 0 }

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

// handleEntry implements [callHandler].
func (r *roundTrip) handleEntry(ctx context.Context, e runlog.Entry) error {
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
	return r.addInput(ctx, open.Key, requeststate.Input{Seq: seq}, open, response)
}

func (r *roundTrip) removeInput(seq uint64) {
	maps.DeleteFunc(r.openInputs, func(_ string, q openInput) bool { return q.Seq == seq })
}
