package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
)

// Recover reads the log: it takes durable runs up where they were left, and
// marks the others interrupted. Those that wait for an answer have nothing to
// do, and stay cold; those of photons that are not here wait for a process that
// has them. A run whose log can't be read is left out. The logger is told of
// both. Call it once, before the engine is used.
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
	runs = slices.DeleteFunc(runs, func(r *trackedRun) bool {
		err := r.recoverRun(ctx)
		if err == nil || IsTransient(err) {
			return false
		}
		e.logUnreadableRun(r.id, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		e.index.removeRun(r)
		return true
	})
	e.deadlines.scheduleAll(runs)
	e.warnMissingPhotons(runs)
	return nil
}

// countUploads counts the files that no entry of a run names: nobody has
// answered with them.
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
		return nil // its size is that of its folder, and it keeps nothing more
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

// warnMissingPhotons logs which photons are missing that runs wait for.
func (e *Engine) warnMissingPhotons(runs []*trackedRun) {
	orphans := make(map[string]int)
	for _, r := range runs {
		if r.photon == nil && r.started.Durable && !r.hasEnded() {
			orphans[r.started.Photon]++
		}
	}
	for photon, n := range orphans {
		e.logger.Warn("durable runs wait for a photon that this program does not have", "photon", photon, "runs", n)
	}
}

func (e *Engine) logUnreadableRun(id string, err error) {
	e.logger.Error("a run can't be read back, and is left out", "run", id, "err", err)
}

func (r *trackedRun) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Ended()
}

// recoverRun does with a run that was read what is to be done.
func (r *trackedRun) recoverRun(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.Ended():
	case !r.started.Durable:
		return r.endRun(runlog.Finished{Status: runlog.Interrupted, Error: "Beam was restarted while this was running"})
	case r.photon == nil: // another program may have it: the folder can be shared
		r.engine.index.markInactive(r)
	case r.checkVersion() != nil:
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: r.checkVersion().Error()})
	case r.state == Waiting && !r.hasNewEvents:
		// It has nothing to do until it is answered.
	default:
		h, err := r.readHistory(ctx)
		if err == nil {
			err = r.claimAndReplay(ctx, h)
		}
		if err != nil && ctx.Err() == nil {
			r.engine.logger.Error("taking a run up again", "run", r.id, "err", err)
			r.queueResume()
		}
	}
	return nil
}

// claimAndReplay claims a run and replays it; h is what it did up to its last entry.
func (r *trackedRun) claimAndReplay(ctx context.Context, h *history) error {
	if err := r.checkArguments(h.args); err != nil {
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: err.Error()})
	}
	read := r.lastSeq
	err := r.appendEntries(ctx, runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: r.epoch + 1}))
	if errors.Is(err, errRunOver) {
		return nil // another process has it
	}
	if err == nil && r.lastSeq > read+1 {
		h, err = r.readHistory(ctx) // another process wrote before the claim
	}
	if err != nil {
		return err
	}
	r.launchGenerator(h.args, h)
	return nil
}
