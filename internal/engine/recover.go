package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
)

// Recover reads the log, resumes durable runs and marks the other unfinished runs
// interrupted. It must be called once, before the engine is used.
//
// A durable run that waits for an answer or sleeps is resumed only when it is answered
// or its sleep ends. A run of a photon that isn't registered waits for a process that has the photon.
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
	e.exclusive.load(runs)
	defer e.exclusive.resume()
	e.counters.countRuns(runs)
	for _, r := range runs {
		e.disk.Add(r.owner(), r.blobBytes)
	}
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
	e.exclusive.leave(r)
	e.index.removeRun(r)
	return false
}

// warnMissingPhotons logs the photons that durable runs need and this program
// doesn't register.
func (e *Engine) warnMissingPhotons(runs []*trackedRun) {
	waiting := make(map[string]int) // by photon
	for _, r := range runs {
		if r.photon == nil && r.Start.Durable && !r.hasEnded() {
			waiting[r.Start.Photon]++
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
	return r.State.Ended()
}

// recoverRun ends or resumes an unfinished run that was read from the log, or leaves
// it waiting.
func (r *trackedRun) recoverRun(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.State.Ended():
	case r.startDamage != nil:
		return r.endRun(unreadableEnd(r.startDamage))
	case !r.Start.Durable:
		return r.endRun(r.interruption("restarted"))
	case r.photon == nil: // another process that shares the log may have the photon
		r.engine.index.markInactive(r)
	case r.checkVersion() != nil:
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: r.checkVersion().Error()})
	case r.Queued:
		// It begins when its turn comes.
	case (r.State == Waiting || r.State == Sleeping) && !r.HasNewEvents:
		// It is resumed when it is answered, or its sleep ends.
	default:
		if err := r.replayFromLog(ctx); err != nil && ctx.Err() == nil {
			r.engine.logger.Error("resuming a run", "run", r.id, "err", err)
			r.queueResume()
		}
	}
	return nil
}

// readAllRuns reads every run from the log. The runs are not in the index yet, and
// their deadlines are not scheduled. Runs that can't be read are logged and
// skipped.
func (e *Engine) readAllRuns(ctx context.Context) ([]*trackedRun, error) {
	rd := runLoader{engine: e, runs: make(map[string]*trackedRun), failures: make(map[string]error)}
	for a, err := range runlog.Scan(ctx, e.log) {
		if err != nil {
			return nil, err
		}
		if rd.failures[a.Run] != nil {
			continue
		}
		if err := rd.loadAppended(a); err != nil {
			rd.failures[a.Run] = err
			delete(rd.runs, a.Run)
		}
	}
	return rd.loadedRuns(), nil
}

// A runLoader builds runs from their entries.
type runLoader struct {
	engine       *Engine
	runs         map[string]*trackedRun
	inStartOrder []*trackedRun
	failures     map[string]error // by run
}

// loadedRuns returns the runs that could be read, in the order of their start. It
// logs the others.
func (rd *runLoader) loadedRuns() []*trackedRun {
	for id, err := range rd.failures {
		rd.engine.logUnreadableRun(id, err)
	}
	for _, r := range rd.inStartOrder {
		r.loading = false
	}
	return slices.DeleteFunc(rd.inStartOrder, func(r *trackedRun) bool { return rd.failures[r.id] != nil })
}

// loadAppended loads the entries of one append.
func (rd *runLoader) loadAppended(a runlog.AppendedEntries) error {
	for _, entry := range a.Entries {
		r := rd.runs[a.Run]
		if r == nil && entry.Kind != runlog.KindStarted {
			return errors.New("its log does not begin with its start")
		}
		if r == nil {
			r = &trackedRun{engine: rd.engine, id: a.Run, loading: true}
			rd.runs[a.Run] = r
			rd.inStartOrder = append(rd.inStartOrder, r)
		}
		if entry.Seq != r.Last+1 {
			return fmt.Errorf("%w: entry %d follows entry %d", runlog.ErrCorrupt, entry.Seq, r.Last)
		}
		if err := r.loadEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// loadEntry loads one entry of a run. It doesn't need mu, because no other
// goroutine has the run yet.
func (r *trackedRun) loadEntry(entry runlog.Entry) error {
	if err := r.countBlobRefs(entry); err != nil {
		return err
	}
	large := entry.Blob != ""
	entry, err := r.engine.loadSpilledData(r.id, entry)
	if told, ok := tellDamage(entry, err); ok {
		r.engine.logger.Error("a run has a damaged entry", "run", r.id, "err", err)
		if entry.Kind == runlog.KindStarted {
			r.startDamage = err
		}
		entry, err, large = told, nil, false
	}
	if err != nil {
		return err
	}
	if large {
		r.spilledBytes += int64(len(entry.Data))
		r.addBlobBytes(int64(len(entry.Data)))
	}
	if entry.Kind == runlog.KindStarted {
		s, err := runlog.Decode[runlog.Started](entry)
		if err != nil {
			return err
		}
		photon, _ := r.engine.photons.Lookup(s.Photon)
		r.begin(photon, s, entry.Time)
	}
	r.applyEntry(entry, false)
	return nil
}

// endsWithProcess reports whether the run, unless it ends before, is interrupted when the
// process ends.
func (r *trackedRun) endsWithProcess() bool { return !r.Start.Durable || r.engine.ephemeral }
