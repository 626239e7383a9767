package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/rawjson"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// replayCall replies to a call from the log, if the log has it. A recorded question
// that is still open stays open under its id. The error means that the call
// differs from the recorded one.
func (w *worker) replayCall(c *driver.Call) (recorded bool, err error) {
	past, err := w.history.Take(c, w.secrets, w.generator.Goroutine())
	if past == nil || err != nil {
		return false, err
	}
	if w.history.IsDone() {
		w.observeReplay(true)
	}
	if reply, ok := past.Reply(c.Key); ok {
		c.Settle(reply)
	} else if w.FindAsk(past.Seq()) != nil || w.FindSleep(past.Seq()) != nil {
		w.calls = append(w.calls, &waitingCall{Call: c, seq: past.Seq()})
		c.HandleWithdraw(func(reason string) { w.withdrawCall(c, reason) })
		w.updateEviction()
		if answer := w.source.PendingAnswer(past.Seq()); answer != nil {
			questions{w.core}.answerAgain(w.trackedRun, w.askOf(c), *answer)
		}
	}
	return true, nil
}

// findRecordedKey returns the unique key of the recorded call that a goroutine makes now with a
// key; see [driver.Run.SetRecordedKeys]. It takes mu.
func (w *worker) findRecordedKey(goroutine, given string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	attempts := maps.Clone(w.Attempts) // without those that are running
	for _, s := range w.runningSteps {
		delete(attempts, w.secrets.Key(s.call.Key))
	}
	if key := w.history.FindUniqueKey(goroutine, given, w.secrets, attempts); key != "" {
		return key
	}
	return w.source.FindKey(goroutine, given)
}

// ReplaySurface is the surface of answers that are taken from an earlier run.
const ReplaySurface = replay.Surface

// ErrInputUnknown means that the log doesn't have a run's input.
var ErrInputUnknown = errors.New("the input of this run is not recorded")

// An UntilError means that a run is to be repeated up to an entry that its log doesn't have.
type UntilError struct{ Until, Last uint64 }

func (e *UntilError) Error() string {
	return fmt.Sprintf("there is no entry %d: the run's log ends at entry %d", e.Until, e.Last)
}

// Replay starts a run of the same photon with the same input as an earlier one, whose
// questions up to the entry with the ordinal until, or all if that is [math.MaxUint64], are
// answered as they were then; those that were answered with secrets or files, or not at all,
// and all later ones are asked.
// If the run asks something else, that question says so, and it and all later ones are
// asked. Somebody who agreed to what can't be undone agreed to that run only: a destructive
// confirmation is asked, unless it was declined. The answers are the caller's, who must be
// one who may give them, and are in memory only: a run that is resumed by another process
// asks. Replay sets the photon and the arguments of req.
//
// The error is that of [Engine.Start], [ErrRunNotFound], [ErrInputUnknown], or an [*UntilError].
func (e *Engine) Replay(ctx context.Context, caller generators.Caller, id string, until uint64, req StartRequest) (Info, error) {
	var err error
	if req.Photon, req.Args, err = e.Input(ctx, caller, id); err != nil {
		return Info{}, err
	}
	req.source = replay.NewReplay(id, until)
	return e.startFrom(ctx, caller, until, req)
}

// Fork starts a run of the same photon as an earlier one, with other arguments unless args is nil.
// Up to the entry with the ordinal until, or the last if that is [math.MaxUint64], as long as it
// makes the same calls, it takes what the earlier run has recorded: as [Engine.Replay] does the
// answers, and the outcomes of steps, which
// don't run again, and the ends of sleeps. It takes nothing after the first call that differs, or
// for which the earlier run has no answer that may be given again. Another process that resumes
// the run goes on taking. Fork sets the photon and the arguments of req.
//
// The error is that of [Engine.Start], [ErrRunNotFound], [ErrInputUnknown], or an [*UntilError].
func (e *Engine) Fork(ctx context.Context, caller generators.Caller, id string, until uint64, args json.RawMessage, req StartRequest) (Info, error) {
	photon, recorded, err := e.Input(ctx, caller, id)
	if err != nil && (args == nil || !errors.Is(err, ErrInputUnknown)) {
		return Info{}, err
	}
	if args == nil {
		args = recorded
	}
	req.Photon, req.Args, req.source = photon, args, replay.NewFork(runlog.Fork{Of: id, Until: until})
	return e.startFrom(ctx, caller, until, req)
}

// startFrom starts a run with a source, up to an entry of the earlier run.
func (e *Engine) startFrom(ctx context.Context, caller generators.Caller, until uint64, req StartRequest) (Info, error) {
	last, err := e.readSource(ctx, req.source)
	if err == nil && until > last && until != math.MaxUint64 {
		err = &UntilError{until, last}
	}
	if err != nil {
		return Info{}, err
	}
	return e.Start(ctx, caller, req)
}

// readSource reads the log of the earlier run, and returns its last ordinal. The error is
// [ErrRunNotFound] or the log's.
func (c *core) readSource(ctx context.Context, s *replay.Source) (last uint64, err error) {
	earlier := s.Earlier()
	for batch, err := range c.log.Read(ctx, earlier.ID, 0) {
		if err != nil {
			return 0, err
		}
		for _, entry := range batch {
			if entry, err = c.files.Load(earlier.ID, entry); err != nil {
				return 0, err
			}
			if err := earlier.Read(entry); err != nil {
				return 0, unreadableLogError{err}
			}
			last = entry.Seq
		}
	}
	if !earlier.End() {
		return 0, ErrRunNotFound
	}
	return last, nil
}

// resumeSource finds out, for a fork that is resumed, what is left to take. It returns
// [errSourceGone] if there was something, and the earlier run is no longer there. Callers hold r.mu.
func (c *core) resumeSource(ctx context.Context, r *trackedRun) error {
	if r.Start.Fork == nil || r.Queued && r.source != nil {
		return nil
	}
	r.source = nil
	s := replay.NewFork(*r.Start.Fork)
	for batch, err := range c.log.Read(ctx, r.id, 0) {
		if err != nil {
			return err
		}
		for _, entry := range batch {
			if entry, err = c.files.Load(r.id, entry); err != nil {
				return err
			}
			if err := s.Note(entry); err != nil {
				return unreadableLogError{err}
			}
		}
	}
	if !s.NeedsEarlier() {
		return nil
	}
	_, err := c.readSource(ctx, s)
	switch {
	case err == nil:
		r.source = s
	case errors.Is(err, ErrRunNotFound) && s.HasOutcomesLeft():
		return errSourceGone
	case errors.Is(err, ErrRunNotFound):
		return nil
	}
	return err
}

// errSourceGone means that a fork can't go on without running steps that it was to take.
var errSourceGone = errors.New("this run was forked from another one, which was deleted before all outcomes of its steps were taken: fork another run, or start anew")

// Input returns the photon of a run and its arguments. The error is [ErrRunNotFound],
// [ErrForbidden], [ErrInputUnknown], or the log's.
func (x reader) Input(ctx context.Context, caller generators.Caller, id string) (photon string, args json.RawMessage, err error) {
	if _, err := x.findRun(caller, id); err != nil {
		return "", nil, err
	}
	entry, err := x.files.ReadEntry(ctx, id, 1)
	if errors.Is(err, runlog.ErrNotFound) {
		err = ErrRunNotFound
	}
	if err != nil {
		return "", nil, err
	}
	started, err := runlog.Decode[runlog.Started](entry)
	if err == nil && rawjson.TypeName(started.Args) != rawjson.ObjectType { // a note that it isn't recorded
		err = ErrInputUnknown
	}
	return started.Photon, started.Args, err
}

// answerAgain answers a question that was just asked as an earlier run's was, for who started
// the run. If that isn't possible, the question is asked.
func (x questions) answerAgain(r *trackedRun, open *runstate.Ask, a askdata.Answer) {
	if open == nil {
		return
	}
	x.workers.Go(func() {
		err := x.AnswerShown(x.ctx, r.Start.StartedBy(), runlog.AskID(r.id, open.Seq), a, ReplaySurface, runlog.RenderedNothing)
		if err == nil || errors.Is(err, ErrSettled) {
			return
		}
		x.logger.Info("a recorded answer can't be given again", "run", r.id, "err", err)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.FindAsk(open.Seq) == open {
			r.notifySample(open)
		}
	})
}

// observeReplay meters and traces the end of a replay, once. complete reports
// whether the replay has reached every recorded call.
func (w *worker) observeReplay(complete bool) {
	h := w.history
	if h == nil || w.replayObserved {
		return
	}
	w.replayObserved = true
	w.core.meter.RunReplayed(time.Since(h.ReadStarted), complete)
	w.core.tracer.TraceReplay(w.tracedRun(), h.ReadStarted, h.LastSettled, complete)
}
