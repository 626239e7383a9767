package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/driver"
)

// A Driver runs photons without a log, with answers that the tests of this package
// choose. It is here and not in package beamtest, which authors use, because its
// answers may come at any time and from any goroutine.
type Driver struct {
	Provider Provider               // nil means Nobody
	Policy   asking.Policy          // limits what may be asked
	Events   func(generators.Event) // receives every event but calls; may be nil
	// Open opens a file of an answer by its digest.
	Open func(digest string) (io.ReadCloser, error)
}

// Run validates the arguments, runs the photon to its end and returns its result
// as JSON. It validates answers too; an invalid answer is the error of its
// question.
func (d Driver) Run(ctx context.Context, p *generators.Photon, args json.RawMessage) (json.RawMessage, error) {
	args, err := p.Check(args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &driverRun{driver: d, ctx: ctx, queue: make(chan *driver.Call)}
	defer a.workers.Wait()
	defer close(a.queue)
	defer cancel()
	for e, err := range driver.Prepare(ctx, p, args).All {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *generators.Result:
			return e.Value, nil
		case *driver.Call:
			a.dispatch(e)
		case generators.Event:
			if d.Events != nil {
				d.Events(e)
			}
		}
	}
	return nil, ask.ErrStopped
}

// driverRun answers the questions of one run.
type driverRun struct {
	driver  Driver
	ctx     context.Context
	open    atomic.Int64
	queue   chan *driver.Call // to an idle worker
	workers sync.WaitGroup
}

// dispatch hands a question to a worker, which it starts if none is idle. It
// ignores steps, which the photon runs itself.
func (a *driverRun) dispatch(c *driver.Call) {
	q, ok := askdata.Of(c)
	if !ok {
		return
	}
	n := int(a.open.Add(1))
	if err := a.driver.Policy.Admit(q, n-1, n-1); err != nil {
		a.open.Add(-1)
		c.Settle(driver.Reply{Err: err})
		return
	}
	select {
	case a.queue <- c:
	default:
		a.workers.Go(func() {
			for ok := true; ok; c, ok = <-a.queue {
				a.answerCall(c)
			}
		})
	}
}

// answerCall settles a question with its answer. It leaves the question open if the
// run was stopped: ending the run settles it with the reason.
func (a *driverRun) answerCall(c *driver.Call) {
	q, _ := askdata.Of(c)
	r := a.driver.askProvider(a.ctx, c.Key, q)
	a.open.Add(-1)
	if r.Err == nil || a.ctx.Err() == nil {
		c.Settle(r)
	}
}

func (d Driver) askProvider(ctx context.Context, key string, q *askdata.Question) driver.Reply {
	if timeout := d.Policy.TimeoutOf(q); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, ask.ErrTimeout)
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
		if errors.Is(context.Cause(ctx), ask.ErrTimeout) {
			err = ask.ErrTimeout
		}
		return driver.Reply{Err: err}
	}
	r := answer.Reply()
	r.Open = d.Open
	return r
}

// A Provider gets answers to questions: from a terminal, an MCP client or a test.
// Ask returns the answer, or [ask.ErrUnsupported] if it can't ask this question. It
// must return when ctx ends, for example because another surface settled the
// question. It may be called from several goroutines.
type Provider interface {
	Ask(ctx context.Context, key string, q *askdata.Question) (askdata.Answer, error)
}

// ProviderFunc adapts a function to a [Provider].
type ProviderFunc func(ctx context.Context, key string, q *askdata.Question) (askdata.Answer, error)

// Ask calls f.
func (f ProviderFunc) Ask(ctx context.Context, key string, q *askdata.Question) (askdata.Answer, error) {
	return f(ctx, key, q)
}

// Nobody is a provider that returns [ask.ErrUnsupported] for every question.
var Nobody Provider = ProviderFunc(func(context.Context, string, *askdata.Question) (askdata.Answer, error) {
	return askdata.Answer{}, ask.ErrUnsupported
})
