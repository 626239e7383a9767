package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// minTimerDelay is the shortest delay of the timer.
const minTimerDelay = 10 * time.Millisecond

// scheduleTimer sets the timer for whatever is due next.
func (f *follower) scheduleTimer() {
	now, expiry, paused, modelReplies := time.Now(), f.handler.waitDeadline(), f.pause() != "", f.server.engine.ModelReplies(f.runID)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopTimer()
	due := f.nextActions(now, paused, modelReplies)
	if !expiry.IsZero() {
		due = append(due, expiry)
	}
	if due != nil {
		next := slices.MinFunc(due, time.Time.Compare)
		f.timer = time.AfterFunc(max(next.Sub(now), minTimerDelay), func() { f.queue.Add(f.handleTimer) })
	}
}

// nextActions returns when each of the actions of runDueActions is due. It keeps the
// wait clock running while a question is open or the run is paused, except while models
// reply, for which nobody need do anything. The caller holds mu.
func (f *follower) nextActions(now time.Time, paused, modelReplies bool) (due []time.Time) {
	policy := f.server.askPolicy
	waiting := (paused || len(f.pending)+len(f.linkedAsks) > 0) && !f.askingStopped
	forPerson := waiting && !modelReplies
	f.waitClock.setWaiting(forPerson, now)
	f.setLinkedSince(forPerson && len(f.linkedAsks) > 0 && len(f.pending) == 0 && !f.handler.hasQuestions(), now)
	if !waiting {
		f.nextKeepAlive = time.Time{}
		return nil
	}
	start := now.Add(-f.waitClock.elapsed(now))
	if at := f.leaveTime(now); forPerson && !at.IsZero() {
		due = append(due, at)
	}
	if forPerson && policy.Link && !f.linksSent && len(f.pending) > 0 {
		due = append(due, start.Add(policy.linkDelay()))
	}
	if policy.KeepAlive > 0 && f.progressToken != nil {
		if f.nextKeepAlive.IsZero() {
			f.nextKeepAlive = now.Add(policy.KeepAlive)
		}
		due = append(due, f.nextKeepAlive)
	}
	return due
}

// pause says why the run does nothing now although no question is open: it sleeps, or
// waits for another run. It is empty otherwise.
func (f *follower) pause() string {
	f.mu.Lock()
	asking := len(f.pending)+len(f.linkedAsks) > 0
	f.mu.Unlock()
	if asking {
		return ""
	}
	info, err := f.server.engine.Info(f.client.caller, f.runID)
	if err != nil {
		return "" // as the next step finds out
	}
	return info.Pause()
}

// setLinkedSince records whether the call waits only for answers that its client can't be
// asked for. The caller holds mu.
func (f *follower) setLinkedSince(onlyLinked bool, now time.Time) {
	switch {
	case !onlyLinked:
		f.linkedSince = time.Time{}
	case f.linkedSince.IsZero():
		f.linkedSince = now
	}
}

// leaveTime returns when the waiting call ends although its run goes on, or zero if it
// doesn't: soon if its client can't be asked, unless it was called to wait. The caller
// holds mu.
func (f *follower) leaveTime(now time.Time) (at time.Time) {
	canHandOff := f.canHandOff()
	if canHandOff {
		at = now.Add(f.server.askPolicy.Handoff - f.waitClock.elapsed(now))
	}
	if f.linkedSince.IsZero() || f.isResume || !canHandOff && !f.mayBecomeTask {
		return at
	}
	if soon := f.linkedSince.Add(linkHandoff); at.IsZero() || soon.Before(at) {
		at = soon
	}
	return at
}

// handleTimer does what is due.
func (f *follower) handleTimer() {
	f.runStep(func(ctx context.Context) (r reply, done bool) {
		if cause := f.inFlight.Cause(); cause != nil {
			return f.handler.handleRequestEnd(cause), true
		}
		if expiry := f.handler.waitDeadline(); !expiry.IsZero() && !time.Now().Before(expiry) {
			if r, done := f.handler.handleExpiredWait(); done {
				return r, true
			}
		}
		return f.runDueActions(ctx)
	})
}

// stopTimer stops the timer, which may be running already. The caller holds mu.
func (f *follower) stopTimer() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}

// stopWaiting stops the timer and the wait clock: the stream has ended.
func (f *follower) stopWaiting() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopTimer()
	f.waitClock.setWaiting(false, time.Now())
}

// runDueActions does what is due because the call has waited for some time. It returns the call's reply if that ends the call.
func (f *follower) runDueActions(ctx context.Context) (r reply, done bool) {
	policy, now := f.server.askPolicy, time.Now()
	f.mu.Lock()
	waiting, waited, leaveAt := f.waitClock.isWaiting(), f.waitClock.elapsed(now), f.leaveTime(now)
	silent := policy.Link && !f.linksSent && len(f.pending) > 0 && waited >= policy.linkDelay()
	f.mu.Unlock()
	if waiting && !leaveAt.IsZero() && !now.Before(leaveAt) {
		if r, done := f.leaveCall(); done {
			return r, true
		}
	}
	var err error
	if waiting && silent {
		err = f.sendAskLinks(ctx)
	}
	if err == nil && !f.nextKeepAlive.IsZero() && policy.KeepAlive > 0 && f.progressToken != nil && !now.Before(f.nextKeepAlive) {
		f.nextKeepAlive = now.Add(policy.KeepAlive)
		err = f.sendKeepAlive(waited)
	}
	if err != nil {
		return f.failureReply(err), true
	}
	return reply{}, false
}

// sendKeepAlive reports progress that says how long the call has waited for an answer, or
// why the run is paused. The progress value rises, as MCP requires.
func (f *follower) sendKeepAlive(waited time.Duration) error {
	text := cmp.Or(f.pause(), fmt.Sprintf("Waiting for an answer, for %s so far", waited.Round(time.Second)))
	if f.server.engine.ModelReplies(f.runID) {
		return f.sendUnrecorded(f.buildStatusNotification("A model is replying"))
	}
	f.mu.Lock()
	linked := slices.Sorted(maps.Keys(f.linkedAsks))
	f.mu.Unlock()
	if len(linked) > 0 {
		if address, err := f.askPageURL(runlog.AskID(f.runID, linked[0])); err == nil {
			text += ": " + address
		}
	}
	return f.sendUnrecorded(f.buildStatusNotification(text))
}

// sendUnrecorded sends messages that have no entry in the log. It sends nothing once
// the call is over, because the reply must be the last message.
func (f *follower) sendUnrecorded(messages ...[]byte) error {
	f.sendMu.Lock()
	defer f.sendMu.Unlock()
	f.mu.Lock()
	stopped := f.askingStopped
	f.mu.Unlock()
	for _, m := range messages {
		if m == nil || stopped {
			continue
		}
		if err := f.sender.Send("", m); err != nil {
			return err
		}
	}
	return nil
}
