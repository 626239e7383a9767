package run

import (
	"context"
	"errors"
	"slices"

	"github.com/photon-beam/beam/internal/log"
)

// Recover reads the log: it takes durable runs up where they were left, and
// marks the others interrupted. Those that wait for an answer have nothing to
// do, and stay cold; those of photons that are not here wait for a process that
// has them. A run whose log can't be read is left out. The logger is told of
// both. Call it once, before the engine is used.
func (e *Engine) Recover(ctx context.Context) error {
	defer func() {
		go e.retain()
		go e.cool()
	}()
	runs, err := e.readAll(ctx)
	if err != nil {
		return err
	}
	e.index.load(runs)
	e.tally.load(runs)
	if err := e.countUploads(); err != nil {
		e.logger.Error("counting the files of runs", "err", err)
	}
	runs = slices.DeleteFunc(runs, func(r *record) bool {
		err := r.pickUp(ctx)
		if err == nil || Passing(err) {
			return false
		}
		e.leaveOut(r.id, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		e.index.remove(r)
		return true
	})
	e.deadlines.load(runs)
	e.tellOrphans(runs)
	return nil
}

// countUploads counts the files that no entry of a run names: nobody has
// answered with them.
func (e *Engine) countUploads() error {
	for id, err := range e.blobs.Runs() {
		if err != nil {
			return err
		}
		if r := e.index.get(id); r != nil {
			if err := r.countUploads(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *record) countUploads() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Ended() && r.named != nil {
		return nil // its size is that of its folder, and it keeps nothing more
	}
	for b, err := range r.engine.blobs.All(r.id) {
		if err != nil {
			return err
		}
		if r.named[b.Digest] == 0 {
			r.refer(b.Digest, b.Size)
		}
	}
	return nil
}

// tellOrphans logs which photons are missing that runs wait for.
func (e *Engine) tellOrphans(runs []*record) {
	orphans := make(map[string]int)
	for _, r := range runs {
		if r.photon == nil && r.started.Durable && !r.isOver() {
			orphans[r.started.Photon]++
		}
	}
	for photon, n := range orphans {
		e.logger.Warn("durable runs wait for a photon that this program does not have", "photon", photon, "runs", n)
	}
}

func (e *Engine) leaveOut(id string, err error) {
	e.logger.Error("a run can't be read back, and is left out", "run", id, "err", err)
}

func (r *record) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Ended()
}

// pickUp does with a run that was read what is to be done.
func (r *record) pickUp(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state.Ended():
	case !r.started.Durable:
		return r.end(log.Finished{Status: log.Interrupted, Error: "Beam was restarted while this was running"})
	case r.photon == nil: // another program may have it: the folder can be shared
		r.engine.index.rest(r)
	case r.otherVersion() != nil:
		return r.end(log.Finished{Status: log.Failed, Error: r.otherVersion().Error()})
	case r.state == Waiting && !r.told:
		// It has nothing to do until it is answered.
	default:
		h, err := r.past(ctx)
		if err == nil {
			err = r.resume(ctx, h)
		}
		if err != nil && ctx.Err() == nil {
			r.engine.logger.Error("taking a run up again", "run", r.id, "err", err)
			r.rouse()
		}
	}
	return nil
}

// resume claims a run and replays it; h is what it did up to its last entry.
func (r *record) resume(ctx context.Context, h *history) error {
	if err := r.otherInput(h.args); err != nil {
		return r.end(log.Finished{Status: log.Failed, Error: err.Error()})
	}
	read := r.last
	err := r.append(ctx, log.New(log.KindClaimed, log.Claimed{Epoch: r.epoch + 1}))
	if errors.Is(err, errOver) {
		return nil // another process has it
	}
	if err == nil && r.last > read+1 {
		h, err = r.past(ctx) // another process wrote before the claim
	}
	if err != nil {
		return err
	}
	r.launch(h.args, h)
	return nil
}
