package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// answer takes the client's response.
func (p *put) answer(m message) {
	ctx := context.Background()
	c, id := p.call, log.AskID(p.call.run, p.seq)
	c.heard()
	open, err := c.server.engine.Ask(ctx, c.client.who, id)
	if err == nil {
		err = p.take(ctx, open, m)
	}
	var invalid *generators.InvalidError
	if errors.As(err, &invalid) {
		if p.mayTryAgain(invalid) {
			c.session.soon(func() { p.tryAgain(open.Question) })
			return
		}
		err = c.withdraw(ctx, id, log.Invalid, tooOften(invalid))
	}
	switch {
	case err == nil, errors.Is(err, run.ErrSettled), errors.Is(err, run.ErrNoAsk), errors.Is(err, errGone):
	case run.Passing(err): // the client has answered, and won't be asked again
		c.server.logger.Warn("an answer can't be recorded now; it is tried again", "run", c.run, "err", err)
		p.later(m)
	default:
		c.server.logger.Error("taking an answer", "run", c.run, "err", err)
	}
}

// unrecorded is how long an answer that can't be recorded waits for the next try.
const unrecorded = time.Second

// later takes the client's response again, unless Beam ends before.
func (p *put) later(m message) {
	time.AfterFunc(unrecorded, func() {
		select {
		case <-p.call.server.engine.Closing():
		default:
			p.answer(m)
		}
	})
}

// tryAgain asks once more.
func (p *put) tryAgain(q *ask.Question) {
	c := p.call
	if err := p.again(c.outlet(), q); err != nil && !errors.Is(err, errGone) {
		c.server.logger.Error("asking again", "run", c.run, "err", err)
	}
}

// askAgain asks once more what the client did not answer rightly, when its stream
// was broken.
func (f *follower) askAgain(ctx context.Context) error {
	f.mu.Lock()
	var again []uint64
	for _, p := range f.puts {
		if p.attempts > 0 && p.seq <= f.after {
			again = append(again, p.seq)
		}
	}
	f.mu.Unlock()
	slices.Sort(again)
	for _, seq := range again {
		if err := f.put(ctx, seq); err != nil {
			return err
		}
	}
	return nil
}

// tooOften says why a question is given up.
func tooOften(invalid *generators.InvalidError) string {
	return fmt.Sprintf("%d answers of the MCP client did not fit the question: %v", maxAttempts, invalid)
}

// mayTryAgain notes an answer that did not fit.
func (p *put) mayTryAgain(invalid *generators.InvalidError) bool {
	p.call.mu.Lock()
	defer p.call.mu.Unlock()
	p.attempts++
	p.wrong = invalid
	return p.attempts < maxAttempts
}

// take records what a response says.
func (p *put) take(ctx context.Context, open run.Open, m message) error {
	c := p.call
	if m.Error != nil {
		return c.refused(ctx, open.ID, m.Error)
	}
	a, err := c.read(open.Question, m.Result)
	if err != nil {
		return err
	}
	if p.consent && a.Action == ask.Accept {
		return nil // the person answers on Beam's page
	}
	return c.server.engine.Answer(ctx, c.client.who, open.ID, a, surface)
}

// rejected is the code with which clients say that their user refused to let
// a model be asked (MCP, Sampling, Error Handling).
const rejected = -1

// refused settles a question that the client answered with an error. One that
// it only failed to ask stays open where there are links: it is as if the client
// were silent.
func (c *call) refused(ctx context.Context, id string, e *rpcError) error {
	if e.Code == rejected {
		return c.server.engine.Answer(ctx, c.client.who, id, ask.Answer{Action: ask.Decline}, surface)
	}
	if c.server.asks.Link {
		return nil
	}
	return c.withdraw(ctx, id, log.Unsupported, "the MCP client could not ask: "+e.Message)
}
