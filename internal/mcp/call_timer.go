package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// errTimerDue: something is to be told that no entry of the log says.
var errTimerDue = errors.New("something is due")

// minTimerDelay is the shortest time to what is due next.
const minTimerDelay = 10 * time.Millisecond

// setWakeFunc says how the call is woken from now on.
func (f *follower) setWakeFunc(wake func()) {
	f.mu.Lock()
	f.wake = wake
	f.mu.Unlock()
	f.scheduleTimer()
}

// scheduleTimer has the call woken when the next is due, while a question is open.
func (f *follower) scheduleTimer() {
	q, now := f.server.askPolicy, time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unset()
	waits := len(f.pending)+len(f.linked) > 0 && !f.askingStopped
	f.waitClock.setWaiting(waits, now)
	if !waits {
		f.nextKeepAlive = time.Time{}
		return
	}
	begun := now.Add(-f.waitClock.elapsed(now))
	var due []time.Time
	if f.canHandOff() {
		due = append(due, begun.Add(q.Handoff))
	}
	if q.Link && !f.linksSent && len(f.pending) > 0 {
		due = append(due, begun.Add(q.linkDelay()))
	}
	if q.KeepAlive > 0 && f.progressToken != nil {
		if f.nextKeepAlive.IsZero() {
			f.nextKeepAlive = now.Add(q.KeepAlive)
		}
		due = append(due, f.nextKeepAlive)
	}
	if due != nil {
		next := slices.MinFunc(due, time.Time.Compare)
		f.alarm = time.AfterFunc(max(next.Sub(now), minTimerDelay), f.wake)
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

// stopWaiting has the call wait no more: its stream has ended, or broken off.
func (f *follower) stopWaiting() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unset()
	f.waitClock.setWaiting(false, time.Now())
}

// runDueActions does what is due. It returns the call's reply when it is over; else
// what comes next is to be arranged.
func (f *follower) runDueActions(ctx context.Context) (r reply, over bool) {
	if cause := f.inFlight.cancelCause(); cause != nil {
		return f.handleRequestEnd(cause), true
	}
	q, now := f.server.askPolicy, time.Now()
	f.mu.Lock()
	waits, waited := f.waitClock.waits(), f.waitClock.elapsed(now)
	silent := q.Link && !f.linksSent && len(f.pending) > 0 && waited >= q.linkDelay()
	f.mu.Unlock()
	if waits && f.canHandOff() && waited >= q.Handoff {
		if r, over := f.handOffCall(); over {
			return r, true
		}
	}
	var err error
	if waits && silent {
		err = f.sendAskLinks(ctx)
	}
	if err == nil && waits && q.KeepAlive > 0 && f.progressToken != nil && !now.Before(f.nextKeepAlive) {
		f.nextKeepAlive = now.Add(q.KeepAlive)
		err = f.sendKeepAlive(waited)
	}
	if err != nil {
		return f.failureReply(err), true
	}
	return reply{}, false
}

// sendKeepAlive tells that the call waits for an answer, and for how long. Progress
// rises with it, or it would be none.
func (f *follower) sendKeepAlive(waited time.Duration) error {
	text := fmt.Sprintf("Waiting for an answer, for %s so far", waited.Round(time.Second))
	f.mu.Lock()
	linked := slices.Sorted(maps.Keys(f.linked))
	f.mu.Unlock()
	if len(linked) > 0 {
		if address, err := f.askPageURL(runlog.AskID(f.runID, linked[0])); err == nil {
			text += ": " + address
		}
	}
	return f.sendUnrecorded(f.buildStatusNotification(text))
}

// sendUnrecorded sends what is no entry of the log, unless the call is over: then its
// reply has been, or is, the last.
func (f *follower) sendUnrecorded(messages ...[]byte) error {
	f.sendMu.Lock()
	defer f.sendMu.Unlock()
	f.mu.Lock()
	gone := f.askingStopped
	f.mu.Unlock()
	for _, m := range messages {
		if m == nil || gone {
			continue
		}
		if err := f.sender.send("", m); err != nil {
			return err
		}
	}
	return nil
}

// sendAskLink tells where a question can be answered, if it can.
func (f *follower) sendAskLink(askID, message string) error {
	address, err := f.askPageURL(askID)
	if err != nil {
		f.server.logger.Error("telling where a question can be answered", "ask", askID, "err", err)
		return nil
	}
	text := fmt.Sprintf("Answer at %s: %s", address, message)
	return f.sendUnrecorded(f.buildStatusNotification(text), f.translator().LogMessage(generators.Notice, text, "log"))
}

// sendAskLinks tells a client that is silent where else its questions can be
// answered. What it was asked to open the page for, it knows that of.
func (f *follower) sendAskLinks(ctx context.Context) error {
	f.mu.Lock()
	f.linksSent = true
	var seqs []uint64
	for _, p := range f.pending {
		if !p.acceptIsConsent {
			seqs = append(seqs, p.askSeq)
		}
	}
	f.mu.Unlock()
	slices.Sort(seqs)
	for _, seq := range seqs {
		id := runlog.AskID(f.runID, seq)
		open, err := f.server.engine.OpenAsk(ctx, f.client.caller, id)
		if err != nil {
			continue // settled just now
		}
		if err := f.sendAskLink(id, open.Question.Message); err != nil {
			return err
		}
	}
	return nil
}
