package run

import (
	"context"
	"errors"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// end records the end of a run: what is still open is withdrawn. If another
// process has claimed the run meanwhile, how its generator ended here counts no
// more; anything else ends it there, too. An end that can't be recorded now is
// recorded later: by the worker, if the end is its generator's, or else when its
// generator is gone. Callers hold mu.
func (r *record) end(f log.Finished) error {
	f.Spent, f.Error = ask.Millis(r.elapsed()), clip(f.Error)
	err := r.tryEnd(f)
	switch {
	case err == nil || errors.Is(err, errOver):
		return nil
	case Passing(err) && own(f) && r.work != nil:
		return err
	case Passing(err):
		r.endLater(f)
	}
	r.engine.logger.Error("recording the end of a run", "run", r.id, "err", err)
	r.halt(generators.ErrStopped)
	return err
}

// tryEnd tries to record the end of a run. Callers hold mu.
func (r *record) tryEnd(f log.Finished) error {
	// The end is recorded even if what wanted it has gone away.
	ctx := context.WithoutCancel(r.engine.ctx)
	epoch := r.epoch
	if err := r.clarify(ctx); err != nil {
		return err
	}
	if r.work != nil {
		r.work.unask()
	}
	for {
		if own(f) && r.epoch > epoch {
			return nil
		}
		// If another process settles a question first, those that are left are
		// withdrawn; if it has claimed the run, what waits here counts no more.
		err := r.flush(ctx, r.lastEntries(f)...)
		if !errors.Is(err, ErrSettled) && !r.superseded(err) {
			return err
		}
	}
}

// own tells the end of a generator from one that somebody brought about.
func own(f log.Finished) bool { return f.Status == log.Completed || f.Status == log.Failed }

func (r *record) lastEntries(f log.Finished) []log.Entry {
	entries := make([]log.Entry, 0, len(r.asks)+1)
	for _, a := range r.asks {
		entries = append(entries, log.New(log.KindWithdrawn, log.Withdrawn{Ask: a.seq, Reason: log.RunEnded}))
	}
	return append(entries, log.New(log.KindFinished, f))
}

// stop ends a run by a person's wish.
func (r *record) stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Ended() {
		return nil
	}
	return r.end(log.Finished{Status: log.Stopped, Error: "stopped"})
}

// letGo ends the part of a run that this process has, because it is closing.
func (r *record) letGo(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep()
	switch {
	case r.state.Ended():
	case r.started.Durable && !r.engine.ephemeral:
		err := r.flush(context.WithoutCancel(r.engine.ctx))
		r.halt(generators.ErrSuspended)
		if Passing(err) {
			return nil // what was not recorded is told again when the run is taken up
		}
		return err
	default:
		r.end(log.Finished{Status: log.Interrupted, Error: "Beam was shut down while this was running"})
	}
	return nil
}

// halt tells the generator to return; nothing that it yields counts any more.
// Callers hold mu.
func (r *record) halt(cause error) {
	for _, a := range r.asks {
		r.engine.deadlines.remove(a)
	}
	if r.work == nil {
		return
	}
	r.work.batch.stop()
	if r.work.gone != nil {
		close(r.work.gone)
	}
	r.work.run.Stop(cause)
	r.work.replayed(false) // if it had not come to where it was
	r.work = nil
	r.warmed()
}

// clip bounds what people read of an error.
func clip(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}
