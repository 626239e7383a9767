package engine

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// endRun withdraws the run's open questions and records its end.
//
// If another process has claimed the run in the meantime, the end of the
// generator here doesn't count, but a stop or interruption still ends the run.
//
// If the log can't record the end now, endRun returns the error of a generator's end so that the
// worker can retry. Any other end stops the generator, and is recorded in the background as soon
// as possible.
func (r *trackedRun) endRun(f runlog.Finished) error {
	f.TimeSpent, f.Error = askdata.Millis(r.clock.elapsed()), truncateText(f.Error)
	f.RecognizeUnanswered()
	err := r.tryRecordEnd(f)
	switch {
	case err == nil || errors.Is(err, journal.ErrOver):
		return nil
	case IsTransient(err) && journal.IsGeneratorEnd(f) && r.worker != nil:
		return err
	case IsTransient(err):
		r.recordEndLater(f)
	}
	r.core.logger.Error("recording the end of a run", "run", r.id, "err", err)
	r.stopGenerator(generators.ErrStopped)
	return err
}

// tryRecordEnd records the end of a run, unless that became obsolete.
func (r *trackedRun) tryRecordEnd(f runlog.Finished) error {
	// The end is recorded even if the request for it has been canceled.
	ctx := context.WithoutCancel(r.core.ctx)
	epoch := r.Epoch
	if err := r.Resolve(ctx); err != nil {
		return err
	}
	if r.worker != nil {
		r.worker.batch.dropAsks()
	}
	for {
		if journal.IsGeneratorEnd(f) && r.Epoch > epoch {
			return nil
		}
		// Retry if another process has settled a question, with those that are
		// still open, or has claimed the run, without the batch.
		err := r.flushAndAppend(ctx, endEntries(&r.Run, f)...)
		if !errors.Is(err, ErrSettled) && !r.isSuperseded(err) {
			return err
		}
	}
}

// endEntries returns the entries that withdraw the open questions and end the run.
func endEntries(r *runstate.Run, f runlog.Finished) []runlog.Entry {
	entries := make([]runlog.Entry, 0, len(r.Asks)+1)
	for _, a := range r.Asks {
		entries = append(entries, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.Seq, Reason: runlog.RunEnded}))
	}
	return append(entries, runlog.NewEntry(runlog.KindFinished, f))
}

// stopRun ends a run on a caller's request, which came from a surface. It takes mu.
func (r *trackedRun) stopRun(caller generators.Caller, surface string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.State.Ended() {
		return nil
	}
	return r.endRun(runlog.Finished{Status: runlog.Stopped, Surface: surface, By: r.nameOfOther(&caller)})
}

// suspendOrInterrupt suspends a durable run and ends any other as interrupted, because the engine
// is closing. It takes mu.
func (r *trackedRun) suspendOrInterrupt() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle.stop()
	switch {
	case r.State.Ended(), r.core.share.IsElsewhere(r.Worker):
	case r.core.share != nil && r.Queued: // another process may begin it
	case !r.endsWithProcess():
		err := r.flushAndAppend(context.WithoutCancel(r.core.ctx))
		r.stopGenerator(generators.ErrSuspended)
		if IsTransient(err) {
			return nil // the generator yields the unrecorded events again when the run is resumed
		}
		return err
	default:
		r.endRun(interruption(&r.Run, "shut down"))
	}
	return nil
}

// stopGenerator detaches the worker and asks its generator to return. Whatever the generator
// still yields is ignored.
func (r *trackedRun) stopGenerator(cause error) {
	if r.worker == nil {
		return
	}
	r.worker.batch.discard()
	if r.worker.stopped != nil {
		close(r.worker.stopped)
	}
	r.worker.generator.Stop(cause)
	r.worker.observeReplay(false) // if the replay was still in progress
	r.detachWorker()
}

// detachWorker lets the run go on without its worker.
func (r *trackedRun) detachWorker() {
	r.worker = nil
	r.clock.stop()
	r.updateEviction()
}

// maxTextBytes bounds an error or a title that is shown to people.
const maxTextBytes = 4 << 10

func truncateText(text string) string { return humanize.TruncateBytes(text, maxTextBytes, " …") }

// recordEndLater records the end of a run in the background as soon as possible. Its generator
// has been stopped. If the engine closes before that, the next process resumes the run or marks
// it interrupted.
func (r *trackedRun) recordEndLater(f runlog.Finished) {
	if r.endPending {
		return
	}
	r.endPending = true
	r.retryLater(func() error {
		err := r.tryRecordEnd(f)
		if !IsTransient(err) || r.core.acceptCtx.Err() != nil {
			r.endPending = false // after a permanent failure, the run can be ended again
			r.setInactive(true)  // ended or not, the run has no generator
		}
		return err
	})
}

// interruption says why the end of the process interrupts the run: what happened to
// Beam, while the run was running or before.
func interruption(r *runstate.Run, happened string) runlog.Finished {
	when := "while this was running"
	if r.Queued {
		when = "before this began"
	}
	return runlog.Finished{Status: runlog.Interrupted, Error: "Beam was " + happened + " " + when}
}

// An unansweredError is the error of a question that was settled without an answer. It
// tells which question ended a run, however the generator wrapped the error.
type unansweredError struct {
	error
	askSeq uint64
	detail string // why nobody could be asked, or what was wrong with the answers
	by     string // who declined or dismissed it, if that isn't the run's owner
}

func (e *unansweredError) Unwrap() error { return e.error }

// unansweredEnd returns the end of a run whose generator returned the error of a question without
// an answer. It reports false for other errors.
func (w *worker) unansweredEnd(err error) (f runlog.Finished, ok bool) {
	cause := err
	var e *unansweredError
	if errors.As(err, &e) {
		cause = e
	}
	for _, u := range runlog.UnansweredErrors {
		if !errors.Is(cause, u.Err) {
			continue
		}
		f.Status, f.Ask = runlog.Unanswered, &runlog.UnansweredAsk{Reason: u.Reason}
		if text := err.Error(); text != cause.Error() || e == nil && err != u.Err {
			f.Error = w.secrets.Text(text)
		}
		if e != nil {
			f.Ask.Seq, f.Ask.Detail, f.By = e.askSeq, truncateText(e.detail), e.by
			f.Ask.Message = w.questionMessage(e.askSeq)
		}
		return f, true
	}
	return f, false
}

// questionMessage returns the message of a question as people saw it, with secrets masked; empty
// if the log can't be read for good.
func (w *worker) questionMessage(seq uint64) (message string) {
	err := w.retryTransient(func() error {
		asked, err := w.core.readAsked(w.core.ctx, w.id, seq)
		if err != nil {
			return err
		}
		q := asked.Question
		if q.Kind == askdata.KindSample {
			version, err := readApproved(w.core.ctx, w.core.files, w.id, seq)
			if err != nil {
				return err
			}
			if version != nil {
				q = runlog.Revise(q, version)
			}
		}
		message = truncateText(q.Message)
		return nil
	})
	if err != nil {
		w.core.logger.Error("reading the question that ended a run", "run", w.id, "err", err)
	}
	return message
}

// isLost reports whether a run that has just been loaded can't go on: it isn't durable, so that it
// was interrupted.
func (r *trackedRun) isLost() bool {
	if r.core.share != nil && r.Queued { // any process may begin it
		return false
	}
	return !r.State.Ended() && !r.Start.Durable && r.core.share.Holds(r.Worker)
}

// endLost ends a run that can't go on. If that can't be recorded now, the next call tries again.
// It takes mu.
func (r *trackedRun) endLost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.State.Ended() && !r.endPending {
		_ = r.endRun(r.lostEnd()) // endRun has logged the error
	}
	if r.State.Ended() {
		r.lost.Store(false)
	}
}

// lostEnd returns how a run ends that can't go on.
func (r *trackedRun) lostEnd() runlog.Finished {
	if r.Start.Photon == files.DamagedPhoton {
		_, err := r.core.files.LoadEntry(context.Background(), r.id, 1)
		return unreadableEnd(err)
	}
	return interruption(&r.Run, "restarted")
}

// endsWithProcess reports whether the run, unless it ends before, is interrupted when the
// process ends.
func (r *trackedRun) endsWithProcess() bool { return !r.Start.Durable || r.core.ephemeral }
