package ask

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/generators"
)

// A Provider puts a question before whoever can answer it: a terminal, an MCP
// client, a test. It returns when there is an answer, or with ErrUnsupported
// if it can't ask this question, or when ctx ends, which it does when the
// question is settled elsewhere. It may be called from several goroutines.
type Provider interface {
	Ask(ctx context.Context, key string, q *Question) (Answer, error)
}

// ProviderFunc is a function that is a [Provider].
type ProviderFunc func(ctx context.Context, key string, q *Question) (Answer, error)

// Ask calls f.
func (f ProviderFunc) Ask(ctx context.Context, key string, q *Question) (Answer, error) {
	return f(ctx, key, q)
}

// Nobody is the provider where nobody can be asked.
var Nobody Provider = ProviderFunc(func(context.Context, string, *Question) (Answer, error) {
	return Answer{}, ErrUnsupported
})

// A Driver runs photons without a log: for their tests, and for commands that
// run once.
type Driver struct {
	Provider Provider               // nil is Nobody
	Policy   Policy                 // what may be asked
	Events   func(generators.Event) // gets what is yielded but the calls; may be nil
	// Open opens the files that the provider's answers name by digest.
	Open func(digest string) (io.ReadCloser, error)
}

// Run checks the arguments, runs the photon to its end and returns its result
// as JSON. Answers are validated as everywhere; an invalid one fails its ask.
func (d Driver) Run(ctx context.Context, p *generators.Photon, args json.RawMessage) (json.RawMessage, error) {
	args, err := p.Check(args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var asks sync.WaitGroup
	var open atomic.Int64
	defer asks.Wait()
	defer cancel()
	for e, err := range p.Run(ctx, args) {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *generators.Result:
			return e.Value, nil
		case *generators.Call:
			q, ok := Of(e)
			if !ok {
				continue // a step, which runs in the photon
			}
			n := int(open.Add(1))
			if err := d.Policy.Admit(q, n-1, n-1); err != nil {
				open.Add(-1)
				e.Settle(generators.Reply{Err: err})
				continue
			}
			asks.Go(func() {
				r, ok := d.ask(ctx, e.Key, q)
				open.Add(-1)
				if ok {
					e.Settle(r)
				}
			})
		default:
			if d.Events != nil {
				d.Events(e)
			}
		}
	}
	return nil, ErrStopped
}

// ask gets the reply to a question. There is none if the run was stopped: the
// reason for that is the photon's to say.
func (d Driver) ask(run context.Context, key string, q *Question) (generators.Reply, bool) {
	ctx := run
	if timeout := d.Policy.TimeoutOf(q); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, ErrTimeout)
		defer cancel()
	}
	provider := d.Provider
	if provider == nil {
		provider = Nobody
	}
	answer, err := provider.Ask(ctx, key, q)
	if err == nil {
		answer, err = q.Check(answer)
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrTimeout) {
			err = ErrTimeout
		}
		return generators.Reply{Err: err}, run.Err() == nil
	}
	r := answer.Reply()
	r.Open = d.Open
	return r, true
}
