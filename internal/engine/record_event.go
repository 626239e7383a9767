package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// recordEvent records one event or call. It returns false if the generator must end. It takes mu.
func (w *worker) recordEvent(e any) bool {
	if c, ok := e.(*driver.Call); ok && c.Kind == driver.StepKind && !awaitLease(w) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worker != w {
		return false
	}
	err := w.core.limits.check(w.trackedRun, &w.batch)
	if err == nil {
		switch e := e.(type) {
		case *driver.Call:
			err = w.handleCall(e)
		case *generators.Stepped:
			err = w.recordStep(e)
		case *generators.Result:
			err = w.completeRun(e)
		case generators.Event:
			err = w.queueEvent(e)
		}
	}
	if err != nil {
		w.endOnRecordError(err)
	}
	return err == nil
}

// awaitLease lets a step begin only while others certainly take this process for one that is there, and
// then finds out whether another process has claimed the run. It reports false if the worker was stopped. It
// takes mu.
func awaitLease(w *worker) bool {
	stale := false
	for ctx := w.generator.Context(); ; {
		waited, err := w.core.share.AwaitLease(ctx)
		stale = stale || waited
		if !stale || err != nil {
			return err == nil
		}
		if err := w.core.update(w.trackedRun); !IsTransient(err) {
			return true // the next append says what else is wrong
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(retryInterval):
		}
	}
}

// recordStep records a step's outcome. Until then, the step counts as running. The
// generator gets a masked error, as a replay does; a value must be kept as it is.
func (w *worker) recordStep(e *generators.Stepped) error {
	e.Error = w.secrets.Text(e.Error)
	i := slices.IndexFunc(w.runningSteps, func(s runningStep) bool { return s.call.Key == e.Key })
	if i < 0 {
		return nil // Step yields it, once
	}
	step := w.runningSteps[i]
	entry := runlog.NewEntry(runlog.KindStepped, runlog.Stepped{
		Key: w.secrets.Key(e.Key), GivenKey: givenKey(step.call, w.secrets), Value: e.Value, Error: e.Error, TimeSpent: askdata.Millis(w.clock.elapsed()), Differs: step.differs,
	}).From(step.goroutine)
	if err := w.flushAndAppendRetrying(entry); err != nil {
		return err
	}
	w.runningSteps = slices.Delete(w.runningSteps, i, i+1)
	w.updateEviction()
	return nil
}

// A runningStep is a step whose outcome isn't recorded yet.
type runningStep struct {
	call      *driver.Call
	goroutine string
	failed    bool   // its function is to be called again
	differs   string // see runlog.Asked
}

// handleStep notes that a step runs, or what its call means if it comes again; see
// [driver.StepKind]. A fork records the outcome that it takes instead.
func (w *worker) handleStep(c *driver.Call) error {
	for i := range w.runningSteps {
		s := &w.runningSteps[i]
		if s.call != c {
			continue
		}
		if s.failed = !s.failed; s.failed {
			return nil
		}
		if err := w.flushAndAppendRetrying(); err != nil { // what the try has yielded
			return err
		}
		return w.supersedeAttempt(s.goroutine, c, true)
	}
	goroutine := w.generator.Goroutine()
	if w.source.HasPassed(c) {
		c.Settle(driver.Reply{Value: json.RawMessage("false")})
		return nil
	}
	past, differs := w.source.TakeStep(c)
	if past != nil {
		taken := runlog.Stepped{
			Key: c.Key, GivenKey: givenKey(c, w.secrets), Value: past.Value, Error: w.secrets.Text(past.Error), TimeSpent: askdata.Millis(w.clock.elapsed()), Taken: true,
		}
		err := w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindStepped, taken).From(goroutine))
		if err == nil {
			c.Settle(replay.SteppedReply(taken))
		}
		return err
	}
	w.runningSteps = append(w.runningSteps, runningStep{call: c, goroutine: goroutine, differs: differs})
	w.updateEviction()
	return w.supersedeAttempt(goroutine, c, false)
}

// supersedeAttempt records that a step begins again, if it has yielded events.
func (w *worker) supersedeAttempt(goroutine string, c *driver.Call, failed bool) error {
	key := w.secrets.Key(c.Key)
	a := w.Attempts[key]
	if a == nil {
		return nil
	}
	return w.queueEntry(runlog.NewEntry(runlog.KindRepeated, runlog.Repeated{Key: key, Failed: failed, Superseded: a.Events}).From(goroutine))
}

// runningSteps are the steps without an outcome, in the order in which they began.
type runningSteps []runningStep

// of returns the key of the step that a goroutine runs, or "".
func (s runningSteps) of(goroutine string) string {
	for _, s := range slices.Backward(s) {
		if s.goroutine == goroutine && !s.failed {
			return s.call.Key
		}
	}
	return ""
}

// givenKey returns the key of a call as the generator gave it, with secrets masked, or "" if that
// is its key.
func givenKey(c *driver.Call, secrets mask.Secrets) string {
	if c.GivenKey == c.Key {
		return ""
	}
	return secrets.Key(c.GivenKey)
}

// check returns an error if a run with a batch has exceeded a limit of what it may write.
func (l *Limits) check(r *trackedRun, b *batch) error {
	switch {
	case r.Events+len(b.entries) > l.MaxEvents:
		return toolErrorf("the tool exceeded the limit of %d events per run", l.MaxEvents)
	case r.Bytes+int64(b.bytes) > l.MaxLogBytes:
		return toolErrorf("the tool exceeded the limit of %d bytes per run, not counting artifacts", l.MaxLogBytes)
	case r.Files.Bytes() > l.MaxBlobBytes:
		return toolErrorf("the tool exceeded the limit of %d bytes of artifacts and files per run", l.MaxBlobBytes)
	}
	return nil
}

// handleCall replies to a call from the history, or records its question. A step
// that isn't in the history is run by generators.Step.
func (w *worker) handleCall(c *driver.Call) error {
	if w.history != nil {
		if recorded, err := w.replayCall(c); recorded || err != nil {
			return err
		}
	}
	if c.Kind == driver.SleepKind {
		return w.recordSleep(c)
	}
	if c.Kind == driver.StepKind {
		if err := w.handleStep(c); err != nil {
			return err
		}
	}
	q, ok := askdata.Of(c)
	if !ok {
		return w.flushAndAppendRetrying()
	}
	var counts runlist.Counts
	err := w.retryTransient(func() (err error) {
		counts, err = w.core.rows.CountOf(w.core.ctx, w.owner())
		return err
	})
	if err != nil {
		return err
	}
	if err := w.core.askPolicy(w.photon).Admit(q, len(w.Asks), counts.Asks); err != nil {
		c.Settle(driver.Reply{Err: err})
		return nil
	}
	return w.recordAsk(c, q)
}

// recordAsk records the question of a call.
func (w *worker) recordAsk(c *driver.Call, q *askdata.Question) error {
	q, masked := w.secrets.Question(q)
	q = runlog.ShownQuestion(q)
	c.Question = q // as surfaces show it; nobody else has seen the call yet
	asked := runlog.Asked{
		Key: w.secrets.Key(c.Key), GivenKey: givenKey(c, w.secrets), Question: q, More: c.More,
		Deadline: deadlineAfter(w.core.policy.TimeoutOf(q)), TimeSpent: askdata.Millis(w.clock.elapsed()),
		Evidence: runlog.DigestEvidence(q.Evidence), Masked: masked, Lost: w.endsWithProcess(),
	}
	var answer *askdata.Answer
	answer, asked.Differs = w.source.TakeAsk(c, asked)
	asked.Taken = answer != nil
	c.HandleWithdraw(func(reason string) { w.withdrawCall(c, reason) })
	w.recordingCall, w.answersAgain = c, answer != nil
	err := w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindAsked, asked).From(w.generator.Goroutine()))
	w.recordingCall, w.answersAgain = nil, false
	if err != nil {
		return err
	}
	if answer != nil {
		questions{w.core}.answerAgain(w.trackedRun, w.askOf(c), *answer)
	}
	return w.withdrawUnanswerable(c)
}

// queueEvent adds an event that surfaces show to the batch, unless it is a
// replayed one that the log already has.
func (w *worker) queueEvent(e generators.Event) error {
	if w.history.SkipEvent() {
		return nil
	}
	e = runlog.ShownEvent(e)
	goroutine := w.generator.Goroutine()
	y := replay.Yielded{Event: e, Goroutine: goroutine, Step: w.secrets.Key(w.runningSteps.of(goroutine))}
	if w.history.HasEvents() {
		form, err := recordedForm(e, w.secrets)
		if err != nil {
			return err
		}
		missing, recorded := w.history.Match(y, form, w.generator.RanTogether)
		if recorded && missing == nil {
			return nil
		}
		if recorded {
			y = *missing
		}
	}
	if a, ok := y.Event.(*generators.Artifact); ok {
		stored, err := w.storeArtifact(w.secrets.Artifact(a))
		if err != nil {
			return err
		}
		y.Event = stored
	}
	kind, data, err := driver.Encode(y.Event)
	if err != nil {
		return err
	}
	return w.queueEntry(runlog.Entry{Kind: runlog.Kind(kind), Data: w.secrets.JSON(data), Time: time.Now(), Goroutine: y.Goroutine, Step: y.Step})
}

// recordedForm returns an event as the log would have it, with secrets masked. The body of a large
// artifact is not stored.
func recordedForm(e generators.Event, secrets mask.Secrets) (replay.Form, error) {
	if a, ok := e.(*generators.Artifact); ok {
		stored := *secrets.Artifact(a)
		stored.Title, stored.Size = truncateText(stored.Title), int64(len(stored.Body))
		if len(stored.Body) > maxInlineArtifact {
			stored.Digest, stored.Body = blob.Digest(stored.Body), nil
		}
		e = &stored
	}
	kind, data, err := driver.Encode(e)
	return replay.NewForm(kind, secrets.JSON(data)), err
}

// earliestWake and latestWake bound the end of a sleep: JSON has no other years, and the
// zero time is no deadline.
var (
	earliestWake = time.Unix(1, 0).UTC()
	latestWake   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// recordSleep records the sleep of a call.
func (w *worker) recordSleep(c *driver.Call) error {
	until := c.Until.UTC().Round(0)
	past, differs := w.source.TakeSleep(c)
	switch {
	case w.core.skipSleeps:
		until = time.Now().UTC().Round(0)
	case !past.IsZero():
		until = past
	case until.Before(earliestWake):
		until = earliestWake
	case until.After(latestWake):
		until = latestWake
	}
	w.recordingCall = c
	err := w.flushAndAppendRetrying(runlog.NewEntry(runlog.KindSleeping, runlog.Sleeping{
		Key: w.secrets.Key(c.Key), GivenKey: givenKey(c, w.secrets), Until: until, TimeSpent: askdata.Millis(w.clock.elapsed()), Taken: !past.IsZero(), Differs: differs,
	}).From(w.generator.Goroutine()))
	w.recordingCall = nil
	return err
}
