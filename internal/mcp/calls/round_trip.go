package calls

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

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
	call        *call
	stream      *stream
	waiting     *waiting
	sealer      *requeststate.Sealer
	digest      []byte               // of what is called
	openInputs  map[string]openInput // open questions, by key
	expectsMore bool                 // the photon asks further questions at once
	task        *futureTask          // what the call may become; nil for nothing
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

// askAtOnce is the round trip's first step. It ends the request if its questions are
// known already.
func (t *roundTrip) askAtOnce(context.Context) (answer requests.Reply, done bool, err error) {
	info, err := t.call.run.info()
	if err == nil && info.LastSeq <= t.stream.last {
		answer, done = t.replyAfterBatch()
		return answer, done, nil
	}
	t.resetWait()
	return answer, false, err
}

// replyAfterBatch implements [callHandler].
func (t *roundTrip) replyAfterBatch() (answer requests.Reply, done bool) {
	if t.isReadyToAsk() {
		return t.askForInput(), true
	}
	if answer, done := t.call.leaveForChat(len(t.openInputs) > 0); done {
		return answer, true
	}
	t.resetWait()
	return requests.Reply{}, false
}

// resetWait sets waitUntil for what the round trip waits for now.
func (t *roundTrip) resetWait() {
	switch {
	case len(t.openInputs) == 0:
		t.waitUntil = t.task.due()
	case t.expectsMore:
		t.waitUntil = time.Now().Add(moreQuestionsWait)
	default:
		t.waitUntil = time.Now().Add(pageAnswerWait)
	}
}

// isReadyToAsk reports whether the round trip can return its questions: there are some,
// no more are announced, and at least one is not being answered on Beam's page.
func (t *roundTrip) isReadyToAsk() bool {
	if len(t.openInputs) == 0 || t.expectsMore {
		return false
	}
	for q := range maps.Values(t.openInputs) {
		if !q.Consented {
			return true
		}
	}
	return false
}

// nextDeadline implements [callHandler].
func (t *roundTrip) nextDeadline() time.Time {
	return earlier(t.waiting.next(time.Now(), len(t.openInputs) > 0), t.waitUntil)
}

// handleDeadline implements [callHandler].
func (t *roundTrip) handleDeadline(ctx context.Context) (answer requests.Reply, done bool, err error) {
	now := time.Now()
	if !t.waitUntil.IsZero() && !now.Before(t.waitUntil) {
		if answer, done := t.handleExpiredWait(); done {
			return answer, true, nil
		}
	}
	if t.waiting.mustLeave(now) {
		if answer, done := t.leave(); done {
			return answer, true, nil
		}
	}
	return answer, false, t.waiting.sendDue(ctx, now)
}

// handleExpiredWait ends the request when waitUntil has come. It goes on if its questions
// were settled meanwhile.
func (t *roundTrip) handleExpiredWait() (answer requests.Reply, done bool) {
	switch {
	case len(t.openInputs) > 0:
		return t.askForInput(), true
	case !t.task.due().IsZero():
		return t.becomeTask(), true
	}
	t.resetWait()
	return requests.Reply{}, false
}

// leave ends a call that has waited for too long: as a task if it may become one, and
// otherwise by handing it off.
func (t *roundTrip) leave() (answer requests.Reply, done bool) {
	if t.task == nil {
		return t.call.handOff()
	}
	if _, waits := t.call.run.waitingInfo(); !waits {
		return requests.Reply{}, false
	}
	return t.becomeTask(), true
}

// handleSettlement implements [callHandler].
func (t *roundTrip) handleSettlement(s msg.Settlement) error {
	maps.DeleteFunc(t.openInputs, func(_ string, q openInput) bool { return q.Seq == s.AskSeq })
	return nil
}

// handleApproval implements [callHandler]. The next request has the version that was approved.
func (t *roundTrip) handleApproval(context.Context, uint64) error { return nil }

// handleQuestion implements [callHandler]. It adds the question to the open inputs.
func (t *roundTrip) handleQuestion(ctx context.Context, seq uint64) error {
	open, isOpen, err := t.call.run.openAsk(ctx, seq)
	if !isOpen {
		return err
	}
	t.expectsMore = open.More
	response := t.earlyResponses[open.Key]
	delete(t.earlyResponses, open.Key)
	return t.addInput(ctx, open.Key, requeststate.Input{Seq: seq}, open, response)
}

// addInput adds an open question, and records the response to it, if there is one. If
// the response is not valid, the client is asked again.
func (t *roundTrip) addInput(ctx context.Context, key string, a requeststate.Input, open engine.OpenAsk, response json.RawMessage) error {
	request, err := t.call.unasked.requestFor(ctx, t.stream, open, a.Seq)
	if request == nil {
		return err
	}
	q := openInput{Input: a, request: *request}
	if response != nil {
		q.Consented, err = t.call.run.recordAnswer(ctx, open, response)
	}
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid):
		q.Attempts++
		if q.Attempts >= maxAttempts {
			return t.call.run.withdraw(ctx, open.ID, runlog.Invalid, tooManyInvalidAnswers(invalid))
		}
		q.request = q.request.WithErrors(invalid.Fields)
	case errors.Is(err, engine.ErrSettled):
		return nil
	case err != nil:
		return err
	case response != nil && !q.Consented:
		return nil // the answer was recorded
	}
	t.openInputs[key] = q
	return nil
}

// handleRequestEnd implements [callHandler]. It cancels the run if nobody could resume
// it.
func (t *roundTrip) handleRequestEnd(cause error) {
	switch {
	case t.call.handedOff.Load():
	case errors.Is(cause, requests.ErrCancelled):
		t.call.origin.cancel()
	default:
		t.call.origin.abandon()
	}
}

// askForInput returns the open questions as the request's result.
func (t *roundTrip) askForInput() requests.Reply {
	progress, sent := t.stream.state.Progress.Last()
	owner := t.call.run.client.Caller.ID
	state := requeststate.State{
		Run: t.call.run.id, After: t.stream.last, Inputs: map[string]requeststate.Input{}, Progress: progress, ProgressSent: sent,
		Owner: owner, Digest: t.digest,
	}
	inputs := map[string]msg.InputRequest{}
	for key, q := range t.openInputs {
		state.Inputs[key] = q.Input
		inputs[key] = q.request.Input()
	}
	sealed, err := t.sealer.Seal(state)
	if err == nil {
		err = t.call.origin.keep()
	}
	if err != nil {
		return t.call.fail(err)
	}
	result := inputRequiredResult{t.call.replies.base("input_required"), inputs, sealed}
	return requests.Reply{Message: msg.EncodeResult(t.call.replies.id, result)}
}

type inputRequiredResult struct {
	msg.ResultBase
	Requests map[string]msg.InputRequest `json:"inputRequests,omitempty"`
	State    string                      `json:"requestState"`
}

// keepRunForState keeps a run while a client can resume it with the requestState. A
// durable run goes on even after that, because it may be answered elsewhere.
func keepRunForState(r *run) error {
	if r.photon.Options().Durable {
		return nil
	}
	return r.engine.SetIdleTimeout(r.client.Caller, r.id, requeststate.Lifetime)
}
