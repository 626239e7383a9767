package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// resumeFromState takes a call up where the round before left it, with the answers that
// the client brings.
func (r *roundTrip) resumeFromState(ctx context.Context, p *requestParams) error {
	st, err := r.server.stateSealer.openState(p.RequestState, r.client.caller.Owner(), r.callDigest)
	if err != nil {
		return err
	}
	info, err := r.server.engine.Info(r.client.caller, st.Run)
	if errors.Is(err, engine.ErrRunNotFound) {
		return errStateExpired
	}
	if err != nil {
		return err
	}
	if err := r.server.engine.ClearIdleTimeout(r.client.caller, st.Run); err != nil {
		return err
	}
	r.runID, r.isContinued, r.earlyResponses = st.Run, true, nil
	if err := r.catchUp(ctx, st.After); err != nil {
		return err
	}
	// The token may be the same in every round: its progress rises on.
	if st.ProgressSent {
		r.state.Progress.RaiseTo(st.Progress)
	}
	for key, a := range st.Inputs {
		if err := r.applyResponse(ctx, info, key, a, p.Responses[key]); err != nil {
			return err
		}
	}
	return r.addLinkedQuestions(ctx, info, st)
}

// applyResponse takes the client's response to a question of the round before. One
// that is settled is not spent again.
func (r *roundTrip) applyResponse(ctx context.Context, info engine.Info, key string, a inputState, response json.RawMessage) error {
	id := runlog.AskID(r.runID, a.Seq)
	i := slices.IndexFunc(info.Asks, func(o engine.OpenAsk) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return r.addInput(ctx, key, a, info.Asks[i], response)
}

// addInput takes in an open question. Without a response that fits it is asked, or
// asked again.
func (r *roundTrip) addInput(ctx context.Context, key string, a inputState, addInput engine.OpenAsk, response json.RawMessage) error {
	id, asked := addInput.ID, addInput.Question
	b, missing, err := r.buildClientRequest(asked, id)
	switch {
	case err != nil:
		return r.withdrawUnsupported(ctx, id, nil, err)
	case missing != nil:
		return r.leaveQuestionOpen(ctx, addInput, a.Seq, missing)
	}
	q := openInput{inputState: a, request: b}
	if response != nil {
		err = r.recordResponse(ctx, id, asked, &q, response)
	}
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid):
		q.Attempts++
		if q.Attempts >= maxAttempts {
			return r.withdrawQuestion(ctx, id, runlog.Invalid, tooManyInvalidAnswers(invalid))
		}
		q.request = q.request.WithErrors(invalid.Fields)
	case errors.Is(err, engine.ErrSettled):
		return nil
	case err != nil:
		return err
	case response != nil && !q.Consented:
		return nil // it is answered
	}
	r.openInputs[key] = q
	return nil
}

func (r *roundTrip) recordResponse(ctx context.Context, id string, asked *ask.Question, q *openInput, response json.RawMessage) error {
	a, err := r.client.ParseAnswer(asked, response)
	if err != nil {
		return err
	}
	if q.request.AcceptIsConsent && a.Action == ask.Accept {
		q.Consented = true
		return nil
	}
	q.Consented = false
	return r.server.engine.Answer(ctx, r.client.caller, id, a, surfaceMCP)
}
