package engine

import (
	"context"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
)

// Recover reads the log, resumes durable runs and marks the other unfinished runs
// interrupted. It must be called once, before the engine is used.
//
// A durable run that waits for an answer is resumed only when it is answered. A
// run of a photon that isn't registered waits for a process that has the photon.
// A run whose log can't be read is skipped. The last two are logged.
func (e *Engine) Recover(ctx context.Context) error {
	defer func() {
		go e.enforceRetention()
		go e.evictIdleRuns()
	}()
	runs, err := e.readAllRuns(ctx)
	if err != nil {
		return err
	}
	e.index.loadRuns(runs)
	e.counters.countRuns(runs)
	if err := e.countUploads(); err != nil {
		e.logger.Error("counting the files of runs", "err", err)
	}
	runs = slices.DeleteFunc(runs, func(r *trackedRun) bool { return !e.recoverOrRemove(ctx, r) })
	e.deadlines.scheduleAll(runs)
	e.warnMissingPhotons(runs)
	return nil
}

// recoverOrRemove recovers a run and returns true, or removes it if that fails for
// good.
func (e *Engine) recoverOrRemove(ctx context.Context, r *trackedRun) bool {
	err := r.recoverRun(ctx)
	if err == nil || IsTransient(err) {
		return true
	}
	e.logUnreadableRun(r.id, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	e.index.removeRun(r)
	return false
}

// countUploads counts the uploaded files of all runs that no entry refers to, because
// no answer has used them yet.
func (e *Engine) countUploads() error {
	for id, err := range e.blobs.Runs() {
		if err != nil {
			return err
		}
		if r := e.index.lookup(id); r != nil {
			if err := r.countUploads(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *trackedRun) countUploads() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Ended() && r.blobRefs != nil {
		return nil // storedBytes uses the folder's size, and nothing is uploaded any more
	}
	for b, err := range r.engine.blobs.RunBlobs(r.id) {
		if err != nil {
			return err
		}
		if r.blobRefs[b.Digest] == 0 {
			r.addBlobRef(b.Digest, b.Size)
		}
	}
	return nil
}

// warnMissingPhotons logs the photons that durable runs need and this program
// doesn't register.
func (e *Engine) warnMissingPhotons(runs []*trackedRun) {
	waiting := make(map[string]int) // by photon
	for _, r := range runs {
		if r.photon == nil && r.started.Durable && !r.hasEnded() {
			waiting[r.started.Photon]++
		}
	}
	for photon, n := range waiting {
		e.logger.Warn("durable runs wait for a photon that this program does not register", "photon", photon, "runs", n)
	}
}

func (e *Engine) logUnreadableRun(id string, err error) {
	e.logger.Error("skipping an unreadable run", "run", id, "err", err)
}

func (r *trackedRun) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Ended()
}

// recoverRun ends or resumes an unfinished run that was read from the log, or leaves
// it waiting.
func (r *trackedRun) recoverRun(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.Ended():
	case !r.started.Durable:
		return r.endRun(runlog.Finished{Status: runlog.Interrupted, Error: "Beam was restarted while this was running"})
	case r.photon == nil: // another process that shares the log may have the photon
		r.engine.index.markInactive(r)
	case r.checkVersion() != nil:
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: r.checkVersion().Error()})
	case r.state == Waiting && !r.hasNewEvents:
		// It is resumed when it is answered.
	default:
		if err := r.replayFromLog(ctx); err != nil && ctx.Err() == nil {
			r.engine.logger.Error("resuming a run", "run", r.id, "err", err)
			r.queueResume()
		}
	}
	return nil
}
