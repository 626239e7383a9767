package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// A put is a question that is before the client as a request of ours
// (2025-06-18 and 2025-11-25). It remembers no more than it has to: thousands
// may wait. What changes is guarded by the call's mu.
type put struct {
	call     *call
	seq      uint64
	consent  bool                     // an accept is no answer; see [bid]
	attempts uint32                   // how many answers did not fit
	wrong    *generators.InvalidError // the last of them; nil if there was none
}

// puts are the questions of a call that are before the client: most often one,
// seldom many, in the order in which they were put.
type puts []*put

// of is the one with an ordinal, or nil.
func (ps puts) of(seq uint64) *put {
	if i := ps.index(seq); i >= 0 {
		return ps[i]
	}
	return nil
}

func (ps puts) index(seq uint64) int {
	return slices.IndexFunc(ps, func(p *put) bool { return p.seq == seq })
}

// remove takes the one with an ordinal out and returns it, or nil.
func (ps *puts) remove(seq uint64) *put {
	i := ps.index(seq)
	if i < 0 {
		return nil
	}
	p := (*ps)[i]
	*ps = slices.Delete(*ps, i, i+1)
	return p
}

// maxAttempts bounds how often a client is asked again for an answer that
// fits.
const maxAttempts = 3

// put puts a question to the client; if that can't be asked, see [follower.leaveOpen].
// A question that was put before is sent again, to a client that
// resumes.
func (f *follower) put(ctx context.Context, seq uint64) error {
	c, out, id := f.call, f.out, log.AskID(f.run, seq)
	open, err := c.server.engine.Ask(ctx, c.client.who, id)
	switch {
	case errors.Is(err, run.ErrSettled), errors.Is(err, run.ErrNoAsk):
		return nil
	case err != nil:
		return err
	}
	c.mu.Lock()
	p := c.puts.of(seq)
	c.mu.Unlock()
	if p != nil {
		return p.again(out, open.Question)
	}
	b, missing, err := c.bid(open.Question, id)
	switch {
	case missing != nil && c.task && elsewhere(open.Question):
		return nil
	case err != nil:
		return c.cannot(ctx, id, nil, err)
	case missing != nil:
		return f.leaveOpen(ctx, open, seq, missing)
	}
	p = &put{call: c, seq: seq, consent: b.consent}
	c.mu.Lock()
	if !c.gone {
		c.puts = append(c.puts, p)
	}
	c.mu.Unlock()
	return p.request(out, b)
}

// cannot withdraws a question that the client can't be asked, and remembers
// what it lacks.
func (c *call) cannot(ctx context.Context, askID string, missing *lack, err error) error {
	if err == nil {
		c.mu.Lock()
		c.lacks, err = append(c.lacks, missing), missing
		c.mu.Unlock()
	}
	return c.withdraw(ctx, askID, log.Unsupported, err.Error())
}

// withdraw settles a question that can't be answered. Somebody else may have
// settled it first.
func (c *call) withdraw(ctx context.Context, askID string, reason log.Reason, text string) error {
	err := c.server.engine.Withdraw(ctx, c.client.who, askID, reason, text)
	if errors.Is(err, run.ErrSettled) {
		return nil
	}
	return err
}

// request sends the question's request, unless it was settled meanwhile.
func (p *put) request(out outlet, b bid) error {
	c := p.call
	c.asking.Lock()
	defer c.asking.Unlock()
	c.mu.Lock()
	id, live := p.id(), !c.gone && c.puts.of(p.seq) == p
	c.mu.Unlock()
	if !live {
		return nil
	}
	return c.session.ask(out, c.cursor(p.seq), id, b.method, c.related(b.params), p)
}

// again sends the question's request once more, with what was wrong with the
// answer before.
func (p *put) again(out outlet, q *ask.Question) error {
	b, missing, err := p.call.bid(q, log.AskID(p.call.run, p.seq))
	if err != nil || missing != nil {
		return err
	}
	p.call.mu.Lock()
	if p.wrong != nil {
		b = b.again(p.wrong.Fields)
	}
	p.call.mu.Unlock()
	return p.request(out, b)
}

// id is the request's id: the ask's. A question that is asked again is another
// request.
func (p *put) id() string {
	id := p.call.linkID(p.seq)
	if p.attempts > 0 {
		id = fmt.Sprintf("%s#%d", id, p.attempts+1)
	}
	return id
}

// settled takes a question back that is settled. A client that still shows it
// is told why, one that opened Beam's page for it that it is complete.
func (c *call) settled(out outlet, s settlement, why string) error {
	c.asking.Lock()
	defer c.asking.Unlock()
	c.mu.Lock()
	p := c.puts.remove(s.Ask)
	if len(c.puts) == 0 {
		c.pointed = false
	}
	id := ""
	if p != nil {
		id = p.id()
	}
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	open := c.session.forget(id)
	var err error
	if p.consent && s.accepted() {
		err = out.send("", notification("notifications/elicitation/complete", map[string]any{"elicitationId": log.AskID(c.run, s.Ask)}))
	}
	if open && err == nil {
		err = out.send("", notification("notifications/cancelled", map[string]any{"requestId": id, "reason": why}))
	}
	return err
}
