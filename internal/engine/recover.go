package engine

import (
	"context"

	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// Recover resumes durable runs and marks the other unfinished runs interrupted. It must be
// called once, before the engine is used.
//
// A durable run that waits for an answer or sleeps is resumed only when it is answered
// or its sleep ends. A run of a photon that isn't registered waits for a process that has the
// photon, which is logged. So are runs that can't be read.
func (e *Engine) Recover(ctx context.Context) error {
	defer func() {
		go e.keeper.Run(e.acceptCtx.Done())
		go e.evictor.Run(e.acceptCtx.Done())
	}()
	var unreadable map[string]error
	if m, ok := e.rows.(*runlist.Memory); ok {
		var err error
		if unreadable, err = m.ReadAll(ctx); err != nil {
			return err
		}
		for id, err := range unreadable {
			e.logUnreadableRun(id, err)
		}
	}
	e.exclusive.Pause()
	if err := e.files.Count(e.ownerOf, unreadable); err != nil {
		e.logger.Error("counting the files of runs", "err", err)
	}
	if err := e.deleteKeysOfEndedRuns(ctx); err != nil {
		e.logger.Error("deleting the keys of ended runs", "err", err)
	}
	for row, err := range pages.Each(e.rows.Unfinished, pages.StartOf) {
		if err != nil {
			return err
		}
		if err := e.recoverRun(ctx, row.ID); err != nil {
			e.logUnreadableRun(row.ID, err)
		}
	}
	e.deadlines.Start()
	if err := e.exclusive.Resume(); err != nil {
		return err
	}
	return e.warnMissingPhotons(ctx)
}

// warnMissingPhotons logs the photons that unfinished runs need and this program doesn't
// register.
func (e *Engine) warnMissingPhotons(ctx context.Context) error {
	counts, err := e.rows.CountPhotons(ctx)
	for photon, n := range counts {
		if _, found := e.photons.Lookup(photon); !found {
			e.logger.Warn("durable runs wait for a photon that this program does not register", "photon", photon, "runs", n)
		}
	}
	return err
}

func (e *Engine) logUnreadableRun(id string, err error) {
	e.logger.Error("skipping an unreadable run", "run", id, "err", err)
}

// recoverRun resumes a durable run that is unfinished; load ends others.
func (x resumer) recoverRun(ctx context.Context, id string) error {
	r, err := x.load(id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.canResume() { // another process that shares the log may have the photon
		return nil
	}
	if err := x.replay(ctx, r); err != nil && ctx.Err() == nil {
		x.logger.Error("resuming a run", "run", id, "err", err)
		x.queue(r)
	}
	return nil
}

// isLost reports whether a run that has just been loaded can't go on: it isn't durable, so that it
// was interrupted, or its photon has another version than it began with.
func (r *trackedRun) isLost() bool {
	return !r.State.Ended() && (!r.Start.Durable || r.photon != nil && checkVersion(&r.Start, r.photon) != nil)
}

// endLost ends a run that can't go on. If that can't be recorded now, the next call tries again.
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
	switch {
	case r.Start.Photon == files.DamagedPhoton:
		_, err := r.core.files.LoadEntry(context.Background(), r.id, 1)
		return unreadableEnd(err)
	case !r.Start.Durable:
		return interruption(&r.Run, "restarted")
	}
	return runlog.Finished{Status: runlog.Failed, Error: checkVersion(&r.Start, r.photon).Error()}
}

// endsWithProcess reports whether the run, unless it ends before, is interrupted when the
// process ends.
func (r *trackedRun) endsWithProcess() bool { return !r.Start.Durable || r.core.ephemeral }
