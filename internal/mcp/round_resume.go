package mcp

import (
	"context"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// rejoin takes up a run that another call began: what is open is asked.
func (r *round) rejoin(ctx context.Context) (ended reply, over bool) {
	r.resumed = true
	open, ended, over := r.past(ctx)
	if over {
		return ended, true
	}
	for _, seq := range open {
		if err := r.ask(ctx, seq); err != nil {
			return r.failed(err), true
		}
	}
	return reply{}, false
}

// relink takes in the questions that are open beside those of the round before:
// the client can't be asked them.
func (r *round) relink(ctx context.Context, info run.Info, st state) error {
	for _, o := range info.Asks {
		_, seq, _ := log.SplitAskID(o.ID)
		if _, asked := st.Asks[o.Key]; asked || seq > st.After {
			continue
		}
		if err := r.open(ctx, o.Key, asking{Seq: seq}, o, nil); err != nil {
			return err
		}
	}
	return nil
}
