package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// A round is one request of a call in the modern era (MCP 2026-07-28, Multi
// Round-Trip Requests): it goes on until the run has ended or has questions,
// which are the request's result. The client answers them with the next one.
type round struct {
	*follower
	pending map[string]question // open questions, by key
	more    bool                // further questions follow at once
	resumed bool                // the run's state was given out before
	digest  []byte
	handle  bool // the call is a task as soon as nothing is asked any more
	// given are the answers that came with the call's first request: a client
	// may know what it will be asked.
	given map[string]json.RawMessage
	// late ends the round when what it waits for does not come; nil while it
	// waits for the run alone.
	late *time.Timer
}

type question struct {
	asking
	bid bid
}

// How long a round waits for what is about to come.
const (
	// moreAsks is for questions that were announced to follow at once.
	moreAsks = 100 * time.Millisecond
	// pageAnswer is for the answer on Beam's page, once the person agreed to
	// open it. Then the client is asked again, so that it knows.
	pageAnswer = 10 * time.Second
)

// round serves one request.
func (c *call) round(flight *flight, p *params) reply {
	ctx := flight.context()
	r := &round{follower: c.follower(c.out, flight), given: p.Responses, pending: map[string]question{}, digest: digest(p.Name, p.Arguments), handle: c.afterAsking()}
	switch {
	case p.RequestState != "":
		if err := r.resume(ctx, p); err != nil {
			if errors.Is(err, errState) || errors.Is(err, errExpired) {
				return fault(c.id, faultf(mcp.INVALID_PARAMS, "%v", err))
			}
			return c.broken(err)
		}
	case c.resumed:
		if ended, over := r.rejoin(ctx); over {
			return ended
		}
	default:
		if refused := c.start(ctx, p); refused != nil {
			return *refused
		}
	}
	if r.handle && r.resumed && len(r.pending) == 0 {
		return r.created()
	}
	return r.follow(ctx)
}

// follow goes on until the round is over.
func (r *round) follow(parent context.Context) reply {
	ctx, cancel := context.WithCancelCause(parent)
	defer func() {
		cancel(nil)
		if r.late != nil {
			r.late.Stop()
		}
	}()
	defer r.rest()
	info, err := r.server.engine.Info(r.client.who, r.run)
	if err != nil {
		return r.broken(err)
	}
	if info.Last <= r.after && r.complete() {
		return r.required()
	}
	r.hurry(cancel)
	for {
		answer, over := r.stretch(ctx, cancel)
		if !over && context.Cause(ctx) == errLate { // for what was settled meanwhile
			cancel(nil)
			ctx, cancel = context.WithCancelCause(parent)
			r.hurry(cancel)
			continue
		}
		if !over && ctx.Err() == nil {
			answer, over = r.attend(ctx)
		}
		switch {
		case answer.message != nil:
			return answer
		case over || ctx.Err() != nil:
			return r.left(ctx)
		}
	}
}

// stretch goes on until the round is over or something else is due. An empty
// answer at the end is none.
func (r *round) stretch(ctx context.Context, cancel context.CancelCauseFunc) (answer reply, over bool) {
	ctx, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	r.wakeBy(func() { wake(errDue) })
	batches, err := r.server.engine.Follow(ctx, r.client.who, r.run, r.after)
	if err != nil {
		return r.broken(err), true
	}
	for batch, err := range batches {
		for _, e := range batch {
			if cause := r.flight.cancelled(); err == nil && cause != nil {
				return reply{}, true
			}
			if err == nil {
				// What is recorded is not broken off when the round is late.
				err = r.take(context.WithoutCancel(ctx), e)
			}
			if err == nil && e.Kind == log.KindFinished {
				return r.end(ctx, e), true
			}
		}
		switch {
		case errors.Is(err, errGone):
			return reply{}, true
		case err != nil && ctx.Err() == nil:
			return r.broken(err), true
		case err == nil && r.complete():
			return r.required(), true
		case err == nil:
			r.hurry(cancel)
			r.arrange()
		}
	}
	switch context.Cause(ctx) {
	case errLate:
		switch {
		case len(r.pending) > 0:
			return r.required(), true
		case r.handle:
			return r.created(), true
		}
		return reply{}, false
	case errDue:
		return reply{}, false
	}
	return reply{}, true
}

// errLate ends the wait for what did not come in time.
var errLate = errors.New("late")

// hurry bounds how long the round waits while it has questions.
func (r *round) hurry(cancel context.CancelCauseFunc) {
	if r.late != nil {
		r.late.Stop()
		r.late = nil
	}
	wait := pageAnswer
	switch {
	case len(r.pending) == 0 && r.handle:
		wait = soonAsked
	case len(r.pending) == 0:
		return
	case r.more:
		wait = moreAsks
	}
	r.late = time.AfterFunc(wait, func() { cancel(errLate) })
}

// complete tells whether the client can be asked now: there are questions, all
// that were announced are there, and none is being answered on Beam's page.
func (r *round) complete() bool {
	if len(r.pending) == 0 || r.more {
		return false
	}
	for q := range maps.Values(r.pending) {
		if !q.Consented {
			return true
		}
	}
	return false
}

// take tells one entry.
func (r *round) take(ctx context.Context, e log.Entry) (err error) {
	defer func() {
		if err == nil {
			r.after = e.Seq
		}
	}()
	switch e.Kind {
	case log.KindAsked:
		return r.ask(ctx, e.Seq)
	case log.KindAnswered, log.KindWithdrawn:
		s, err := log.As[settlement](e)
		r.settled(s.Ask)
		r.unlink(s.Ask)
		return err
	}
	return r.say(e)
}

func (r *round) ask(ctx context.Context, seq uint64) error {
	open, err := r.server.engine.Ask(ctx, r.client.who, log.AskID(r.run, seq))
	switch {
	case errors.Is(err, run.ErrSettled), errors.Is(err, run.ErrNoAsk):
		return nil
	case err != nil:
		return err
	}
	r.more = open.More
	response := r.given[open.Key]
	delete(r.given, open.Key)
	return r.open(ctx, open.Key, asking{Seq: seq}, open, response)
}

func (r *round) settled(seq uint64) {
	maps.DeleteFunc(r.pending, func(_ string, q question) bool { return q.Seq == seq })
}

// required is the round's result: the questions that are open.
func (r *round) required() reply {
	st := state{
		Run: r.run, After: r.after, Asks: map[string]asking{}, Progress: r.tell.last, Begun: r.tell.begun,
		Owner: r.client.who.Owner(), Digest: r.digest,
	}
	requests := map[string]inputRequest{}
	for key, q := range r.pending {
		st.Asks[key] = q.asking
		requests[key] = inputRequest{q.bid.method, q.bid.params}
	}
	sealed, err := r.server.states.seal(st)
	if err != nil {
		return r.broken(err)
	}
	if err := r.waits(); err != nil {
		return r.broken(err)
	}
	result := inputRequired{r.server.envelope(r.client, "input_required"), requests, sealed}
	return reply{message: response(r.id, result)}
}

type (
	inputRequired struct {
		envelope
		Requests map[string]inputRequest `json:"inputRequests,omitempty"`
		State    string                  `json:"requestState"`
	}
	inputRequest struct {
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}
)

// left ends a round whose request ended before its run. A run that can be taken
// up again waits; nobody could come back to any other.
func (r *round) left(ctx context.Context) reply {
	if !r.call.resumed && (errors.Is(context.Cause(ctx), errCancelled) || !r.resumed && !r.photon.Options().Durable) {
		r.stop()
	} else if err := r.waits(); err != nil {
		r.server.logger.Error("leaving a run", "run", r.run, "err", err)
	}
	return reply{}
}

// waits leaves the run to whoever has its state. When the state has expired
// nobody has; a durable run, and one with a handle, waits on for an answer from
// elsewhere.
func (r *round) waits() error {
	if r.photon.Options().Durable || r.call.resumed {
		return nil
	}
	return r.server.engine.Abandon(r.client.who, r.run, stateAge)
}
