package mcp

import (
	"context"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

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
func (r *roundTrip) addLinkedQuestions(ctx context.Context, info engine.Info, state requestState) error {
	for _, o := range info.Asks {
		_, seq, _ := runlog.SplitAskID(o.ID)
		if _, asked := state.Inputs[o.Key]; asked || seq > state.After {
			continue
		}
		if err := r.addInput(ctx, o.Key, inputState{Seq: seq}, o, nil); err != nil {
			return err
		}
	}
	return nil
}
