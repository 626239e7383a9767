package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// endRun records the end of a run: what is still open is withdrawn. If another
// process has claimed the run meanwhile, how its generator ended here counts no
// more; anything else ends it there, too. An end that can't be recorded now is
// recorded later: by the worker, if the end is its generator's, or else when its
// generator is gone. Callers hold mu.
func (r *trackedRun) endRun(f runlog.Finished) error {
	f.TimeSpent, f.Error = ask.Millis(r.elapsedTime()), truncateText(f.Error)
	err := r.tryRecordEnd(f)
	switch {
	case err == nil || errors.Is(err, errRunOver):
		return nil
	case IsTransient(err) && isGeneratorEnd(f) && r.worker != nil:
		return err
	case IsTransient(err):
		r.recordEndLater(f)
	}
	r.engine.logger.Error("recording the end of a run", "run", r.id, "err", err)
	r.stopGenerator(generators.ErrStopped)
	return err
}

// tryRecordEnd tries to record the end of a run. Callers hold mu.
func (r *trackedRun) tryRecordEnd(f runlog.Finished) error {
	// The end is recorded even if what wanted it has gone away.
	ctx := context.WithoutCancel(r.engine.ctx)
	epoch := r.epoch
	if err := r.resolveUncertainAppend(ctx); err != nil {
		return err
	}
	if r.worker != nil {
		r.worker.dropUnrecordedAsks()
	}
	for {
		if isGeneratorEnd(f) && r.epoch > epoch {
			return nil
		}
		// If another process settles a question first, those that are left are
		// withdrawn; if it has claimed the run, what waits here counts no more.
		err := r.flushAndAppend(ctx, r.endEntries(f)...)
		if !errors.Is(err, ErrSettled) && !r.isSuperseded(err) {
			return err
		}
	}
}

// isGeneratorEnd tells the end of a generator from one that somebody brought about.
func isGeneratorEnd(f runlog.Finished) bool {
	return f.Status == runlog.Completed || f.Status == runlog.Failed
}

func (r *trackedRun) endEntries(f runlog.Finished) []runlog.Entry {
	entries := make([]runlog.Entry, 0, len(r.openAsks)+1)
	for _, a := range r.openAsks {
		entries = append(entries, runlog.NewEntry(runlog.KindWithdrawn, runlog.Withdrawn{AskSeq: a.seq, Reason: runlog.RunEnded}))
	}
	return append(entries, runlog.NewEntry(runlog.KindFinished, f))
}

// stopRun ends a run by a person's wish.
func (r *trackedRun) stopRun() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Ended() {
		return nil
	}
	return r.endRun(runlog.Finished{Status: runlog.Stopped, Error: "stopped"})
}

// suspendOrInterrupt ends the part of a run that this process has, because it is closing.
func (r *trackedRun) suspendOrInterrupt(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopIdleTimer()
	switch {
	case r.state.Ended():
	case r.started.Durable && !r.engine.ephemeral:
		err := r.flushAndAppend(context.WithoutCancel(r.engine.ctx))
		r.stopGenerator(generators.ErrSuspended)
		if IsTransient(err) {
			return nil // what was not recorded is told again when the run is taken up
		}
		return err
	default:
		r.endRun(runlog.Finished{Status: runlog.Interrupted, Error: "Beam was shut down while this was running"})
	}
	return nil
}

// stopGenerator tells the generator to return; nothing that it yields counts any more.
// Callers hold mu.
func (r *trackedRun) stopGenerator(cause error) {
	for _, a := range r.openAsks {
		r.engine.deadlines.cancelExpiry(a)
	}
	if r.worker == nil {
		return
	}
	r.worker.batch.discard()
	if r.worker.stopped != nil {
		close(r.worker.stopped)
	}
	r.worker.generator.Stop(cause)
	r.worker.observeReplay(false) // if it had not come to where it was
	r.worker = nil
	r.updateResidency()
}

// truncateText bounds what people read of an error.
func truncateText(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}
