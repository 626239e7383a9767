package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// openAsk is a question without an answer.
type openAsk struct {
	run     *trackedRun
	seq     uint64
	askedAt time.Time // without a monotonic reading, as born
	// expiresAt is when the question expires, or, if that could not be recorded, is
	// tried to again; zero for never.
	expiresAt time.Time
	call      *generators.Call // nil if no generator waits here
	// callIsCurrent says that call has the question as it was recorded, and due its
	// deadline. What was asked before the generator was here, only the log has.
	callIsCurrent bool
}

// showAsk copies what lists and surfaces show of an open question. The error is
// the log's. Callers hold mu.
func (r *trackedRun) buildOpenAsk(ctx context.Context, a *openAsk) (OpenAsk, error) {
	asked, err := r.loadAsked(ctx, a)
	if err != nil {
		return OpenAsk{}, err
	}
	return OpenAsk{
		ID: runlog.AskID(r.id, a.seq), Run: r.id, Photon: r.started.Photon, Title: r.started.Title,
		Since: a.askedAt, Asked: asked,
	}, nil
}

func (r *trackedRun) loadAsked(ctx context.Context, a *openAsk) (runlog.Asked, error) {
	if asked, live := a.askedFromCall(); live {
		return asked, nil
	}
	asked, err := r.readAsked(ctx, a.seq)
	if err != nil {
		return runlog.Asked{}, fmt.Errorf("reading the question %s: %w", runlog.AskID(r.id, a.seq), err)
	}
	return asked, nil
}

// callAsked is what the call that waits here asked, if it is live.
func (a *openAsk) askedFromCall() (asked runlog.Asked, live bool) {
	if !a.callIsCurrent {
		return asked, false
	}
	q, _ := ask.Of(a.call)
	return runlog.Asked{Key: a.call.Key, Question: q, Deadline: a.expiresAt, More: a.call.More}, true
}

func (r *trackedRun) readAsked(ctx context.Context, seq uint64) (runlog.Asked, error) {
	for batch, err := range r.engine.loadSpilledBatches(r.id, r.engine.log.Read(ctx, r.id, seq-1)) {
		if err != nil {
			return runlog.Asked{}, err
		}
		asked, err := runlog.Decode[runlog.Asked](batch[0])
		asked.TimeSpent = 0 // that is the run's, and no call has it
		return asked, err
	}
	return runlog.Asked{}, runlog.ErrNotFound
}

// showAsks are all open ones of a run. Callers hold mu.
func (r *trackedRun) buildOpenAsks(ctx context.Context) ([]OpenAsk, error) {
	var open []OpenAsk
	for _, a := range r.openAsks {
		o, err := r.buildOpenAsk(ctx, a)
		if err != nil {
			return nil, err
		}
		open = append(open, o)
	}
	return open, nil
}

func (r *trackedRun) findOpenAsk(seq uint64) *openAsk {
	for _, a := range r.openAsks {
		if a.seq == seq {
			return a
		}
	}
	return nil
}
