package mcp

import (
	"context"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// rejoinAsRoundTrip takes up a run that another call began: what is open is asked.
func (r *roundTrip) rejoinAsRoundTrip(ctx context.Context) (ended reply, over bool) {
	r.isContinued = true
	open, ended, over := r.readHistory(ctx)
	if over {
		return ended, true
	}
	for _, seq := range open {
		if err := r.collectQuestion(ctx, seq); err != nil {
			return r.failureReply(err), true
		}
	}
	return reply{}, false
}

// addLinkedQuestions takes in the questions that are open beside those of the round before:
// the client can't be asked them.
func (r *roundTrip) addLinkedQuestions(ctx context.Context, info engine.Info, st requestState) error {
	for _, o := range info.Asks {
		_, seq, _ := runlog.SplitAskID(o.ID)
		if _, asked := st.Inputs[o.Key]; asked || seq > st.After {
			continue
		}
		if err := r.addInput(ctx, o.Key, inputState{Seq: seq}, o, nil); err != nil {
			return err
		}
	}
	return nil
}
