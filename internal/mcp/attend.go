package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// errDue: something is to be told that no entry of the log says.
var errDue = errors.New("something is due")

// leastWait is the shortest time to what is due next.
const leastWait = 10 * time.Millisecond

// wakeBy says how the call is woken from now on.
func (f *follower) wakeBy(wake func()) {
	f.mu.Lock()
	f.wake = wake
	f.mu.Unlock()
	f.arrange()
}

// arrange has the call woken when the next is due, while a question is open.
func (f *follower) arrange() {
	q, now := f.server.asks, time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unset()
	waits := len(f.puts)+len(f.linked) > 0 && !f.gone
	f.patience.set(waits, now)
	if !waits {
		f.beat = time.Time{}
		return
	}
	begun := now.Add(-f.patience.waited(now))
	var due []time.Time
	if f.handsOff() {
		due = append(due, begun.Add(q.Handoff))
	}
	if q.Link && !f.pointed && len(f.puts) > 0 {
		due = append(due, begun.Add(q.silentAfter()))
	}
	if q.KeepAlive > 0 && f.token != nil {
		if f.beat.IsZero() {
			f.beat = now.Add(q.KeepAlive)
		}
		due = append(due, f.beat)
	}
	if due != nil {
		next := slices.MinFunc(due, time.Time.Compare)
		f.alarm = time.AfterFunc(max(next.Sub(now), leastWait), f.wake)
	}
}

// unset has the call woken no more; it may be in the middle of it. Callers hold
// mu.
func (f *follower) unset() {
	if f.alarm != nil {
		f.alarm.Stop()
		f.alarm = nil
	}
}

// rest has the call wait no more: its stream has ended, or broken off.
func (f *follower) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unset()
	f.patience.set(false, time.Now())
}

// attend does what is due. It returns the call's reply when it is over; else
// what comes next is to be arranged.
func (f *follower) attend(ctx context.Context) (r reply, over bool) {
	if cause := f.flight.cancelled(); cause != nil {
		return f.leave(cause), true
	}
	q, now := f.server.asks, time.Now()
	f.mu.Lock()
	waits, waited := f.patience.waits(), f.patience.waited(now)
	silent := q.Link && !f.pointed && len(f.puts) > 0 && waited >= q.silentAfter()
	f.mu.Unlock()
	if waits && f.handsOff() && waited >= q.Handoff {
		if r, over := f.handOff(); over {
			return r, true
		}
	}
	var err error
	if waits && silent {
		err = f.pointAll(ctx)
	}
	if err == nil && waits && q.KeepAlive > 0 && f.token != nil && !now.Before(f.beat) {
		f.beat = now.Add(q.KeepAlive)
		err = f.waiting(waited)
	}
	if err != nil {
		return f.failed(err), true
	}
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

// point tells where a question can be answered, if it can.
func (f *follower) point(askID, message string) error {
	address, err := f.pageOf(askID)
	if err != nil {
		f.server.logger.Error("telling where a question can be answered", "ask", askID, "err", err)
		return nil
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
	for _, p := range f.puts {
		if !p.consent {
			seqs = append(seqs, p.seq)
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
