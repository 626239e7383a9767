package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// Asking says what happens to a question that the client can't be asked, or
// does not answer.
type Asking struct {
	// Link has the client told the address of the question's page, where
	// somebody may answer it; the call waits. Without it, a question that the
	// client can't be asked is withdrawn.
	Link bool
	// Handoff is how long a call then waits before it ends with a result that
	// names the address and a handle, with which [ResumeTool] takes the run up
	// again; 0 is for ever. Without Link it means nothing.
	Handoff time.Duration
	// KeepAlive is how often a call that waits and has a progress token tells
	// so, for callers that begin their time-out anew on progress; 0 is never.
	KeepAlive time.Duration
}

// handsOff tells whether calls end before their runs do.
func (a Asking) handsOff() bool { return a.Link && a.Handoff > 0 }

// silentAfter is how long a client that was asked may be silent before it is
// told where else the question can be answered.
func (a Asking) silentAfter() time.Duration {
	const most = 20 * time.Second
	if a.Handoff > 0 {
		return min(a.Handoff/2, most)
	}
	return most
}

// A patience counts how long a call has waited for people, by the agenda's
// clock.
type patience struct {
	since time.Duration // when it began to wait; 0 while it does not
	spent time.Duration // before that
}

func (p *patience) waited(now time.Duration) time.Duration {
	if p.since == 0 {
		return p.spent
	}
	return p.spent + now - p.since
}

// set notes whether it waits now.
func (p *patience) set(waits bool, now time.Duration) {
	switch {
	case waits && p.since == 0:
		p.since = now
	case !waits && p.since != 0:
		p.spent, p.since = p.waited(now), 0
	}
}

// renew begins anew: the client has answered, so it is not silent.
func (p *patience) renew(now time.Duration) {
	p.spent = 0
	if p.since != 0 {
		p.since = now
	}
}

// errDue: something is to be told that no entry of the log says.
var errDue = errors.New("something is due")

// leastWait is the shortest time to what is due next.
const leastWait = 10 * time.Millisecond

// arrange has the call woken when the next is due, while a question is open.
func (f *follower) arrange() {
	asking, agenda := f.server.asking, f.server.agenda
	now := agenda.now()
	f.mu.Lock()
	waits := len(f.puts)+len(f.linked) > 0 && !f.gone
	f.patience.set(waits, now)
	begun, pointed := now-f.patience.waited(now), f.pointed || len(f.puts) == 0
	f.mu.Unlock()
	var due []time.Duration
	if asking.handsOff() {
		due = append(due, begun+asking.Handoff)
	}
	if asking.Link && !pointed {
		due = append(due, begun+asking.silentAfter())
	}
	switch {
	case !waits:
		f.beat = 0
	case asking.KeepAlive > 0 && f.token != nil:
		f.beat = cmp.Or(f.beat, now+asking.KeepAlive)
		due = append(due, f.beat)
	}
	if !waits || due == nil {
		agenda.strike(&f.vigil)
		return
	}
	agenda.enter(&f.vigil, max(slices.Min(due), now+leastWait), f.wake)
}

// attend does what is due, and arranges what comes next. It returns the call's
// reply when it is over.
func (f *follower) attend(ctx context.Context) (r reply, over bool) {
	if cause := f.flight.cancelled(); cause != nil {
		return f.leave(cause), true
	}
	asking, now := f.server.asking, f.server.agenda.now()
	f.mu.Lock()
	waits, waited := f.patience.since != 0, f.patience.waited(now)
	silent := asking.Link && !f.pointed && len(f.puts) > 0 && waited >= asking.silentAfter()
	f.mu.Unlock()
	if waits && asking.handsOff() && waited >= asking.Handoff {
		if r, over := f.handOff(); over {
			return r, true
		}
	}
	var err error
	if waits && silent {
		err = f.pointAll(ctx)
	}
	if err == nil && waits && asking.KeepAlive > 0 && f.token != nil && now >= f.beat {
		f.beat = now + asking.KeepAlive
		err = f.waiting(waited)
	}
	if err != nil {
		return f.failed(err), true
	}
	f.arrange()
	return reply{}, false
}

// waiting tells that the call waits for an answer, and for how long. Progress
// rises with it, or it would be none.
func (f *follower) waiting(waited time.Duration) error {
	text := fmt.Sprintf("Waiting for an answer, for %s so far", waited.Round(time.Second))
	f.mu.Lock()
	linked := slices.Sorted(maps.Keys(f.linked))
	f.mu.Unlock()
	if len(linked) > 0 {
		if address, err := f.pageOf(log.AskID(f.run, linked[0])); err == nil {
			text += ": " + address
		}
	}
	return f.tellLive(f.tell.waits(text))
}

// tellLive sends what is no entry of the log, unless the call is over: then its
// reply has been, or is, the last.
func (f *follower) tellLive(messages ...[]byte) error {
	f.asking.Lock()
	defer f.asking.Unlock()
	f.mu.Lock()
	gone := f.gone
	f.mu.Unlock()
	for _, m := range messages {
		if m == nil || gone {
			continue
		}
		if err := f.out.send("", m); err != nil {
			return err
		}
	}
	return nil
}

// point tells where a question can be answered.
func (f *follower) point(askID, message string) error {
	address, err := f.pageOf(askID)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Answer at %s: %s", address, message)
	return f.tellLive(f.tell.waits(text), f.tell.log(generators.Notice, "", text))
}

// pointAll tells a client that is silent where else its questions can be
// answered. What it was asked to open the page for, it knows that of.
func (f *follower) pointAll(ctx context.Context) error {
	f.mu.Lock()
	f.pointed = true
	var seqs []uint64
	for seq, p := range f.puts {
		if !p.consent {
			seqs = append(seqs, seq)
		}
	}
	f.mu.Unlock()
	slices.Sort(seqs)
	for _, seq := range seqs {
		id := log.AskID(f.run, seq)
		open, err := f.server.engine.Ask(ctx, f.client.who, id)
		if err != nil {
			continue // settled just now
		}
		if err := f.point(id, open.Question.Message); err != nil {
			return err
		}
	}
	return nil
}

// pageOf is the address of a question's page. It carries no authority.
func (c *call) pageOf(askID string) (string, error) {
	origin, err := c.session.pages()
	if err != nil {
		return "", err
	}
	return origin + "/asks/" + askID, nil
}
