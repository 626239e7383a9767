package mcp

import (
	"errors"

	msg "github.com/photon-beam/beam/internal/mcp/message"
	"github.com/photon-beam/beam/internal/mcp/requests"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
)

// inputRequiredReply returns the open questions as the request's result.
func (r *roundTrip) inputRequiredReply() reply {
	progress, sent := r.state.Progress.Last()
	state := requeststate.State{
		Run: r.runID, After: r.lastSent, Inputs: map[string]requeststate.Input{}, Progress: progress, ProgressSent: sent,
		Owner: r.client.caller.ID, Digest: r.callDigest,
	}
	requests := map[string]inputRequest{}
	for key, q := range r.openInputs {
		state.Inputs[key] = q.Input
		requests[key] = inputRequest{q.request.Method, q.request.Params}
	}
	sealed, err := r.server.stateSealer.Seal(state)
	if err != nil {
		return r.internalErrorReply(err)
	}
	if err := r.keepRunForState(); err != nil {
		return r.internalErrorReply(err)
	}
	result := inputRequiredResult{r.server.newResultBase(r.client, "input_required"), requests, sealed}
	return reply{message: msg.EncodeResult(r.requestID, result)}
}

type (
	inputRequiredResult struct {
		msg.ResultBase
		Requests map[string]inputRequest `json:"inputRequests,omitempty"`
		State    string                  `json:"requestState"`
	}
	inputRequest struct {
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}
)

// handleRequestEnd implements [callHandler]. It cancels the run if nobody could resume
// it.
func (r *roundTrip) handleRequestEnd(cause error) reply {
	if r.wasHandedOff() {
		return reply{}
	}
	if !r.call.isResume && (errors.Is(cause, requests.ErrCancelled) || !r.isContinued && !r.photon.Options().Durable) {
		r.cancelRun()
	} else if err := r.keepRunForState(); err != nil {
		r.server.logger.Error("keeping a run for its requestState", "run", r.runID, "err", err)
	}
	return reply{}
}

// keepRunForState keeps the run while a client can resume it with the requestState. A
// durable run, or one with a handle, goes on even after that, because it may be
// answered elsewhere.
func (r *roundTrip) keepRunForState() error {
	if r.photon.Options().Durable || r.call.isResume {
		return nil
	}
	return r.server.engine.SetIdleTimeout(r.client.caller, r.runID, requeststate.Lifetime)
}
