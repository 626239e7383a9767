package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// resume takes a call up where the round before left it, with the answers that
// the client brings.
func (r *round) resume(ctx context.Context, p *params) error {
	st, err := r.server.states.open(p.RequestState, r.client.who.Owner(), r.digest)
	if err != nil {
		return err
	}
	info, err := r.server.engine.Info(r.client.who, st.Run)
	if errors.Is(err, run.ErrNotFound) {
		return errExpired
	}
	if err != nil {
		return err
	}
	if err := r.server.engine.Keep(r.client.who, st.Run); err != nil {
		return err
	}
	r.run, r.resumed, r.given = st.Run, true, nil
	if err := r.catchUp(ctx, st.After); err != nil {
		return err
	}
	// The token may be the same in every round: its progress rises on.
	r.tell.last, r.tell.begun = st.Progress, st.Begun
	for key, a := range st.Asks {
		if err := r.answer(ctx, info, key, a, p.Responses[key]); err != nil {
			return err
		}
	}
	return r.relink(ctx, info, st)
}

// answer takes the client's response to a question of the round before. One
// that is settled is not spent again.
func (r *round) answer(ctx context.Context, info run.Info, key string, a asking, response json.RawMessage) error {
	id := log.AskID(r.run, a.Seq)
	i := slices.IndexFunc(info.Asks, func(o run.Open) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return r.open(ctx, key, a, info.Asks[i], response)
}

// open takes in an open question. Without a response that fits it is asked, or
// asked again.
func (r *round) open(ctx context.Context, key string, a asking, open run.Open, response json.RawMessage) error {
	id, asked := open.ID, open.Question
	b, missing, err := r.bid(asked, id)
	switch {
	case err != nil:
		return r.cannot(ctx, id, nil, err)
	case missing != nil:
		return r.leaveOpen(ctx, open, a.Seq, missing)
	}
	q := question{asking: a, bid: b}
	if response != nil {
		err = r.give(ctx, id, asked, &q, response)
	}
	var invalid *generators.InvalidError
	switch {
	case errors.As(err, &invalid):
		q.Attempts++
		if q.Attempts >= maxAttempts {
			return r.withdraw(ctx, id, log.Invalid, tooOften(invalid))
		}
		q.bid = q.bid.again(invalid.Fields)
	case errors.Is(err, run.ErrSettled):
		return nil
	case err != nil:
		return err
	case response != nil && !q.Consented:
		return nil // it is answered
	}
	r.pending[key] = q
	return nil
}

func (r *round) give(ctx context.Context, id string, asked *ask.Question, q *question, response json.RawMessage) error {
	a, err := r.read(asked, response)
	if err != nil {
		return err
	}
	if q.bid.consent && a.Action == ask.Accept {
		q.Consented = true
		return nil
	}
	q.Consented = false
	return r.server.engine.Answer(ctx, r.client.who, id, a, surface)
}
