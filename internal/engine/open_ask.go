package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// An openAsk is a question that has not been settled. Its fields are guarded by
// the run's mu.
type openAsk struct {
	*runstate.Ask
	run  *trackedRun
	call *generators.Call // nil if no generator in this process waits for the reply
	// callIsCurrent means that call has the question as it was recorded. If it is false, only
	// the log has it.
	callIsCurrent bool
	evidence      string // if callIsCurrent, the digest of what the question shows
}

// listed returns the question as rows have it. Callers hold the run's mu, and use what is
// returned only while they do.
func (a *openAsk) listed() runlist.Ask {
	return runlist.Ask{Ask: a.Ask, Run: &runlist.Row{ID: a.run.id, Run: a.run.Run}}
}

// buildOpenAsk returns an open question as lists and surfaces show it to a caller. The
// error is the log's. Callers hold mu.
func (r *trackedRun) buildOpenAsk(ctx context.Context, a *openAsk, caller generators.Caller) (OpenAsk, error) {
	asked, err := r.loadAsked(ctx, a)
	if err != nil {
		return OpenAsk{}, err
	}
	return r.engine.describeAsk(a.listed(), asked, caller), nil
}

// describeAsk returns an open question as lists and surfaces show it to a caller.
func (e *Engine) describeAsk(a runlist.Ask, asked runlog.Asked, caller generators.Caller) OpenAsk {
	r := a.Run
	o := OpenAsk{
		ID: a.ID(), Run: r.ID, Photon: r.Start.Photon, Title: r.Start.Title,
		Owner: r.Owner(), OwnerName: nameOfOwner(r.Start, r.Adopter), Since: a.AskedAt, Asked: asked,
	}
	if a.Revised != "" && asked.Question != nil {
		q := *asked.Question
		q.Message, o.Question = a.Revised, &q
	}
	switch {
	case a.Audience != nil:
		o.Unanswerable = e.isUnanswerable(a)
		o.For, o.Excluded, o.AskOnly = a.Audience.String(), !admits(a, caller), !usableBy(caller, o.Owner)
	case reservesForOwner(asked.Question, caller, o.Owner):
		o.For, o.Excluded, o.Reserved = o.OwnerName, true, true
	}
	return o
}

// loadAsked returns a question as it was recorded, from memory if possible.
func (r *trackedRun) loadAsked(ctx context.Context, a *openAsk) (runlog.Asked, error) {
	if asked, ok := a.askedFromCall(); ok {
		return asked, nil
	}
	asked, _, err := r.engine.readAsked(ctx, r.id, a.Seq)
	return asked, err
}

// askedFromCall returns the question of the call that waits here, if it is current.
func (a *openAsk) askedFromCall() (asked runlog.Asked, ok bool) {
	if !a.callIsCurrent {
		return asked, false
	}
	q, _ := ask.Of(a.call)
	return runlog.Asked{Key: a.call.Key, Question: q, Deadline: a.Deadline, More: a.call.More, Evidence: a.evidence, Lost: a.run.endsWithProcess()}, true
}

// readAsked reads a question from the log, and the JSON that the log has of it.
func (e *Engine) readAsked(ctx context.Context, run string, seq uint64) (asked runlog.Asked, question json.RawMessage, err error) {
	err = runlog.ErrNotFound
	for batch, readErr := range e.loadSpilledBatches(run, e.log.Read(ctx, run, seq-1)) {
		if err = readErr; err == nil {
			asked, err = runlog.Decode[runlog.Asked](batch[0])
			asked.TimeSpent = 0 // askedFromCall has none either
			question = rawjson.Member(batch[0].Data, "question")
		}
		break
	}
	if err != nil {
		return runlog.Asked{}, nil, fmt.Errorf("reading the question %s: %w", runlog.AskID(run, seq), err)
	}
	return asked, question, nil
}

// buildOpenAsks returns all open questions of a run for a caller. Callers hold mu.
func (r *trackedRun) buildOpenAsks(ctx context.Context, caller generators.Caller) ([]OpenAsk, error) {
	var open []OpenAsk
	for _, a := range r.openAsks {
		o, err := r.buildOpenAsk(ctx, a, caller)
		if err != nil {
			return nil, err
		}
		open = append(open, o)
	}
	return open, nil
}

// findOpenAsk returns the open question with an ordinal, or nil. Callers hold mu.
func (r *trackedRun) findOpenAsk(seq uint64) *openAsk {
	for _, a := range r.openAsks {
		if a.Seq == seq {
			return a
		}
	}
	return nil
}
