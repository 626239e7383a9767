package run

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// openAsk is a question without an answer.
type openAsk struct {
	run   *record
	seq   uint64
	since time.Time // without a monotonic reading, as born
	// due is when the question expires, or, if that could not be recorded, is
	// tried to again; zero for never.
	due  time.Time
	call *generators.Call // nil if no generator waits here
	// live says that call has the question as it was recorded, and due its
	// deadline. What was asked before the generator was here, only the log has.
	live bool
}

// show copies what lists and surfaces show of an open question. The error is
// the log's. Callers hold mu.
func (r *record) show(ctx context.Context, a *openAsk) (Open, error) {
	asked, err := r.question(ctx, a)
	if err != nil {
		return Open{}, err
	}
	return Open{
		ID: log.AskID(r.id, a.seq), Run: r.id, Photon: r.started.Photon, Title: r.started.Title,
		Since: a.since, Asked: asked,
	}, nil
}

func (r *record) question(ctx context.Context, a *openAsk) (log.Asked, error) {
	if asked, live := a.asked(); live {
		return asked, nil
	}
	asked, err := r.readQuestion(ctx, a.seq)
	if err != nil {
		return log.Asked{}, fmt.Errorf("reading the question %s: %w", log.AskID(r.id, a.seq), err)
	}
	return asked, nil
}

// asked is what the call that waits here asked, if it is live.
func (a *openAsk) asked() (asked log.Asked, live bool) {
	if !a.live {
		return asked, false
	}
	q, _ := ask.Of(a.call)
	return log.Asked{Key: a.call.Key, Question: q, Deadline: a.due, More: a.call.More}, true
}

func (r *record) readQuestion(ctx context.Context, seq uint64) (log.Asked, error) {
	for batch, err := range r.engine.hydrated(r.id, r.engine.log.Read(ctx, r.id, seq-1)) {
		if err != nil {
			return log.Asked{}, err
		}
		asked, err := log.As[log.Asked](batch[0])
		asked.Spent = 0 // that is the run's, and no call has it
		return asked, err
	}
	return log.Asked{}, log.ErrNotFound
}

// questions are all open ones of a run. Callers hold mu.
func (r *record) questions(ctx context.Context) ([]Open, error) {
	var open []Open
	for _, a := range r.asks {
		o, err := r.show(ctx, a)
		if err != nil {
			return nil, err
		}
		open = append(open, o)
	}
	return open, nil
}

func (r *record) open(seq uint64) *openAsk {
	for _, a := range r.asks {
		if a.seq == seq {
			return a
		}
	}
	return nil
}
