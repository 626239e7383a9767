package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/requeststate"
	"github.com/photon-beam/beam/internal/runlog"
)

// resumeFromState resumes a call from its requestState, and records the answers that
// came with it.
func (r *roundTrip) resumeFromState(ctx context.Context, p *requestParams) error {
	state, err := r.server.stateSealer.Open(p.RequestState, r.client.caller.ID, r.callDigest)
	if err != nil {
		return err
	}
	info, err := r.server.engine.Info(r.client.caller, state.Run)
	if errors.Is(err, engine.ErrRunNotFound) {
		return requeststate.ErrExpired
	}
	if err != nil {
		return err
	}
	if err := r.server.engine.ClearIdleTimeout(r.client.caller, state.Run); err != nil {
		return err
	}
	r.runID, r.isContinued, r.earlyResponses = state.Run, true, nil
	r.recordRequest()
	r.asked.Store(true)
	if err := r.catchUp(ctx, state.After); err != nil {
		return err
	}
	// The progress token may be the same in every round trip, so progress must keep rising.
	if state.ProgressSent {
		r.state.Progress.RaiseTo(state.Progress)
	}
	for key, a := range state.Inputs {
		if err := r.applyResponse(ctx, info, key, a, p.Responses[key]); err != nil {
			return err
		}
	}
	return r.addLinkedQuestions(ctx, info, state)
}

// applyResponse applies the client's response to a question of the previous round trip.
// It ignores one to a question that was settled.
func (r *roundTrip) applyResponse(ctx context.Context, info engine.Info, key string, a requeststate.Input, response json.RawMessage) error {
	id := runlog.AskID(r.runID, a.Seq)
	i := slices.IndexFunc(info.Asks, func(o engine.OpenAsk) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return r.addInput(ctx, key, a, info.Asks[i], response)
}

// addInput adds an open question, and records the response to it, if there is one. If
// the response is not valid, the client is asked again.
func (r *roundTrip) addInput(ctx context.Context, key string, a requeststate.Input, open engine.OpenAsk, response json.RawMessage) error {
	request, err := r.requestFor(ctx, open, a.Seq)
	if request == nil {
		return err
	}
	q := openInput{Input: a, request: *request}
	if response != nil {
		q.Consented, err = r.recordClientAnswer(ctx, open, response)
	}
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid):
		q.Attempts++
		if q.Attempts >= maxAttempts {
			return r.withdrawQuestion(ctx, open.ID, runlog.Invalid, tooManyInvalidAnswers(invalid))
		}
		q.request = q.request.WithErrors(invalid.Fields)
	case errors.Is(err, engine.ErrSettled):
		return nil
	case err != nil:
		return err
	case response != nil && !q.Consented:
		return nil // the answer was recorded
	}
	r.openInputs[key] = q
	return nil
}

// rejoinAsRoundTrip joins a run that another call started, and collects its open
// questions.
func (r *roundTrip) rejoinAsRoundTrip(ctx context.Context) (ended reply, done bool) {
	r.isContinued = true
	open, ended, done := r.readHistory(ctx)
	if done {
		return ended, true
	}
	for _, seq := range open {
		if err := r.collectQuestion(ctx, seq); err != nil {
			return r.failureReply(err), true
		}
	}
	return reply{}, false
}

// addLinkedQuestions adds the open questions that the state does not hold because the
// client can't be asked them.
func (r *roundTrip) addLinkedQuestions(ctx context.Context, info engine.Info, state requeststate.State) error {
	for _, o := range info.Asks {
		_, seq, _ := runlog.SplitAskID(o.ID)
		if _, asked := state.Inputs[o.Key]; asked || seq > state.After {
			continue
		}
		if err := r.addInput(ctx, o.Key, requeststate.Input{Seq: seq}, o, nil); err != nil {
			return err
		}
	}
	return nil
}
