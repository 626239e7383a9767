package calls

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
)

// A waitClock measures how long a call has waited for answers. Its methods may be called
// concurrently.
type waitClock struct {
	mu           sync.Mutex
	waitingSince time.Time     // zero while the call does not wait
	waitedBefore time.Duration // total before waitingSince
}

// elapsed returns how long the call has waited, and whether it waits now.
func (c *waitClock) elapsed(now time.Time) (waited time.Duration, waiting bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total(now), !c.waitingSince.IsZero()
}

// total returns how long the call has waited. The caller holds mu.
func (c *waitClock) total(now time.Time) time.Duration {
	if c.waitingSince.IsZero() {
		return c.waitedBefore
	}
	return c.waitedBefore + now.Sub(c.waitingSince)
}

// setWaiting starts or stops the clock.
func (c *waitClock) setWaiting(waiting bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch isWaiting := !c.waitingSince.IsZero(); {
	case waiting && !isWaiting:
		c.waitingSince = now
	case !waiting && isWaiting:
		c.waitedBefore, c.waitingSince = c.total(now), time.Time{}
	}
}

// restart resets the clock to zero.
func (c *waitClock) restart(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waitedBefore = 0
	if !c.waitingSince.IsZero() {
		c.waitingSince = now
	}
}

// leaveTimes say how long a call waits before it ends although its run goes on; 0 is
// forever.
type leaveTimes struct {
	// any is for whatever the call waits for.
	any time.Duration
	// unasked is while it waits only for what its client can't be asked.
	unasked time.Duration
}

// A waiting does what is due while a call waits on a stream: it sends links to a silent
// client, and keep-alives, and says when the call ends. Its methods must not be called
// concurrently.
type waiting struct {
	policy    AskPolicy
	leave     leaveTimes
	stream    *stream
	clock     *waitClock
	questions *questionSender
	unasked   *unaskedQuestions

	nextKeepAlive time.Time // zero while the call does not wait for an answer
}

// isForAnswer reports whether the client or somebody else is asked something.
func (w *waiting) isForAnswer() bool {
	_, unasked := w.unasked.first()
	return unasked || w.questions.isAsking()
}

// next returns when something is due next, or zero. It keeps the clock running while a
// question is open or the run is paused, except while models reply, for which nobody need
// do anything. holdsQuestions reports whether the call has further questions for its
// client.
func (w *waiting) next(now time.Time, holdsQuestions bool) (due time.Time) {
	modelReplies := w.stream.run.engine.ModelReplies(w.stream.run.id)
	waits := !w.stream.outlet.closed.Load() && (w.isForAnswer() || w.stream.run.pause() != "")
	forPerson := waits && !modelReplies
	w.clock.setWaiting(forPerson, now)
	_, unasked := w.unasked.first()
	w.unasked.noteWaiting(forPerson && unasked && !w.questions.isAsking() && !holdsQuestions, now)
	if !waits {
		w.nextKeepAlive = time.Time{}
		return time.Time{}
	}
	if forPerson {
		due = w.leaveTime(now)
	}
	if waited, _ := w.clock.elapsed(now); forPerson && w.policy.Link && w.questions.isSilent() {
		due = earlier(due, now.Add(w.policy.linkDelay()-waited))
	}
	if w.policy.KeepAlive > 0 && w.stream.run.progressToken != nil {
		if w.nextKeepAlive.IsZero() {
			w.nextKeepAlive = now.Add(w.policy.KeepAlive)
		}
		due = earlier(due, w.nextKeepAlive)
	}
	return due
}

// earlier returns the earlier of two times, of which a zero one never comes.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// leaveTime returns when the call ends, or zero.
func (w *waiting) leaveTime(now time.Time) (at time.Time) {
	if w.leave.any > 0 {
		waited, _ := w.clock.elapsed(now)
		at = now.Add(w.leave.any - waited)
	}
	if since := w.unasked.waitingSince(); w.leave.unasked > 0 && !since.IsZero() {
		at = earlier(at, since.Add(w.leave.unasked))
	}
	return at
}

// mustLeave reports whether the call ends now because it has waited for too long.
func (w *waiting) mustLeave(now time.Time) bool {
	at := w.leaveTime(now)
	_, waits := w.clock.elapsed(now)
	return waits && !at.IsZero() && !now.Before(at)
}

// sendDue sends what is due because the call has waited for some time.
func (w *waiting) sendDue(ctx context.Context, now time.Time) error {
	waited, waits := w.clock.elapsed(now)
	if waits && w.policy.Link && waited >= w.policy.linkDelay() && w.questions.isSilent() {
		if err := w.sendLinks(ctx); err != nil {
			return err
		}
	}
	if w.nextKeepAlive.IsZero() || now.Before(w.nextKeepAlive) {
		return nil
	}
	w.nextKeepAlive = now.Add(w.policy.KeepAlive)
	return w.sendKeepAlive(waited)
}

// sendLinks sends a client that does not answer the addresses of its questions.
func (w *waiting) sendLinks(ctx context.Context) error {
	for _, seq := range w.questions.takeUnanswered() {
		open, isOpen, err := w.stream.run.openAsk(ctx, seq)
		if err != nil || !isOpen {
			continue // it was just settled
		}
		if err := sendAskLink(w.stream, open); err != nil {
			return err
		}
	}
	return nil
}

// sendKeepAlive reports progress that says how long the call has waited for an answer, or
// why the run is paused.
func (w *waiting) sendKeepAlive(waited time.Duration) error {
	r := w.stream.run
	if r.engine.ModelReplies(r.id) {
		return w.stream.sendStatus("A model is replying")
	}
	pause := ""
	if !w.isForAnswer() {
		pause = r.pause()
	}
	text := cmp.Or(pause, fmt.Sprintf("Waiting for an answer, for %s so far", waited.Round(time.Second)))
	if seq, ok := w.unasked.first(); ok {
		if address, err := r.translator().AskPageURL(r.askID(seq)); err == nil {
			text += ": " + address
		}
	}
	return w.stream.sendStatus(text)
}
