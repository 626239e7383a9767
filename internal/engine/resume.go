package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine/evict"
	"github.com/photon-beam/beam/internal/engine/exclusive"
	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// A resumer resumes durable runs that have no generator. Its methods may be called from several
// goroutines.
type resumer struct{ *core }

// canResume reports whether the run is unfinished, durable and without a generator, so that it
// can be resumed in this process, or has waited to begin and is next.
func (r *trackedRun) canResume() bool {
	if r.Queued {
		return !r.resuming && !r.endPending && !r.State.Ended() && r.photon != nil && r.core.exclusive.IsFirst(exclusive.KeyOf(&r.Start), r.id)
	}
	return r.worker == nil && !r.resuming && !r.endPending && r.Start.Durable && !r.State.Ended() && r.photon != nil
}

// The bounds of the wait before the next attempt to resume a run.
const (
	minRetryWait = time.Second
	maxRetryWait = time.Minute
)

// queue queues a run to be resumed, however many are answered at once. Attempts
// continue until the engine closes, since a log that can't be read or written now may recover; the
// next process then resumes the run. The first, second, fourth, eighth failure and so on are
// logged. Callers hold r.mu.
func (x resumer) queue(r *trackedRun) {
	r.resuming = true
	x.retries.Add(schedule.Job{Try: func() error { return x.try(r) }, Wait: minRetryWait, MaxWait: maxRetryWait, Failed: func(tries int, err error) {
		if tries&(tries-1) == 0 && x.acceptCtx.Err() == nil {
			x.logger.Error("resuming a run failed; will retry", "run", r.id, "attempt", tries, "err", err)
		}
	}})
}

// try resumes a run from its log. If it returns an error, the run is still
// marked as resuming, and tries again.
func (x resumer) try(r *trackedRun) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resuming = false
	if !r.canResume() {
		return nil
	}
	if x.acceptCtx.Err() != nil {
		r.setInactive(true)
		return nil
	}
	r.resuming = true
	defer func() { r.resuming = err != nil }()
	ctx := x.acceptCtx                     // a read that hangs must not keep the engine from closing
	if err := r.Resolve(ctx); err != nil { // the last append may be the claim of an earlier attempt
		return err
	}
	err = x.replay(ctx, r)
	if !isUnrecoverable(err) {
		return err
	}
	x.logger.Error("resuming a run", "run", r.id, "err", err)
	return r.endRun(unreadableEnd(err))
}

// unreadableEnd is the end of a run whose history can't be read.
func unreadableEnd(err error) runlog.Finished {
	end := runlog.Finished{Status: runlog.Interrupted, Error: "Beam could not read what this run had done"}
	if damaged, ok := errors.AsType[*runlog.DamagedError](err); ok {
		end.Error += ": " + damaged.Error()
	}
	return end
}

// replay reads a run's history, claims the run and replays it. Callers hold r.mu.
func (x resumer) replay(ctx context.Context, r *trackedRun) error {
	h, err := x.readHistory(ctx, r)
	if err != nil {
		return err
	}
	return x.claimAndReplay(ctx, r, h)
}

// claimAndReplay claims a run for this process and launches its generator with
// the history h, which is complete up to the last entry. A run that was queued has no
// history: it begins. Callers hold r.mu.
func (x resumer) claimAndReplay(ctx context.Context, r *trackedRun, h *replay.History) error {
	if err := checkArguments(r.photon, h.Args); err != nil {
		return r.endRun(runlog.Finished{Status: runlog.Failed, Error: err.Error()})
	}
	lastRead, begins := r.Last, r.Queued
	err := r.Append(ctx, newClaim(x.program(), r.Epoch+1))
	if errors.Is(err, journal.ErrOver) {
		return nil // another process has claimed it
	}
	if err == nil && r.Last > lastRead+1 {
		h, err = x.readHistory(ctx, r) // another process wrote before the claim
	}
	if err != nil {
		return err
	}
	r.Files.Measure()
	if begins {
		r.launchGenerator(h.Caller, nil, h.Args, nil)
	} else {
		r.launchGenerator(h.Caller, nil, h.Args, h)
	}
	return nil
}

// newClaim returns the claim of a worker in this process.
func newClaim(program string, epoch int) runlog.Entry {
	return runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: epoch, Program: program, Goroutines: true})
}

// readHistory reads a run's history from its log.
func (x resumer) readHistory(ctx context.Context, r *trackedRun) (*replay.History, error) {
	h := replay.New(x.program, replay.Replies{Answered: r.answeredReply, Withdrawn: withdrawnReply})
	last := uint64(0)
	for batch, err := range x.log.Read(ctx, r.id, 0) {
		if err != nil {
			return nil, err
		}
		for _, entry := range batch {
			last = entry.Seq
			if entry, err = x.files.Load(r.id, entry); err != nil {
				return nil, err
			}
			if err := entry.Visit(h); err != nil {
				return nil, unreadableLogError{err}
			}
		}
	}
	if last < r.Last {
		return nil, fmt.Errorf("the log ends at entry %d, but the run has %d", last, r.Last)
	}
	return h, nil
}

// checkVersion returns an error if the photon's version differs from the one that
// the run began with. A run without a recorded version may continue.
func checkVersion(s *runlog.Started, p *generators.Photon) error {
	then, now := s.Version, p.Options().Version
	if then == "" || then == now {
		return nil
	}
	if now == "" {
		now = "an unnamed version"
	} else {
		now = fmt.Sprintf("version %q", now)
	}
	return replay.ToolChangedErrorf("it was version %q then, and is %s now", then, now)
}

// checkArguments returns an error if the photon's input schema no longer accepts
// the run's arguments.
func checkArguments(p *generators.Photon, args json.RawMessage) error {
	_, err := p.Check(args)
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return replay.ToolChangedErrorf("its arguments are no longer valid: %v", invalid)
}

// isEvictable reports whether the generator could be evicted, as far as its calls show: it waits
// for answers or sleeps, no step is running, whose effect would be repeated, and a replay has
// reached every open question and sleep. Only Evict checks whether goroutines of the generator
// are working.
func (w *worker) isEvictable() bool {
	return w != nil && w.Start.Durable && (w.State == Waiting || w.State == Sleeping) && len(w.runningSteps) == 0 && w.stalledCount == 0 &&
		len(w.calls) == len(w.Asks)+len(w.Sleeps)
}

// minEvictedSleep is the shortest rest of a sleep for which a run is evicted: for less,
// a replay isn't worth the memory.
const minEvictedSleep = time.Second

// idleness returns since when an evictable run waits.
func (w *worker) idleness() evict.Idleness {
	now, always := time.Now(), w.core.limits.ReplayAlways
	i := evict.Idleness{Since: now, After: evict.IdleAfter, Soon: always || w.State == Sleeping && nextWake(&w.Run).Sub(now) >= minEvictedSleep}
	last := slices.MaxFunc(w.calls, func(a, b *waitingCall) int { return int(a.seq) - int(b.seq) })
	switch {
	case slices.ContainsFunc(w.calls, func(c *waitingCall) bool { return c.Concurrent }): // it had started goroutines before it asked
		i.After = evict.ConcurrentIdleAfter
	case always && !last.More:
		i.After = 0
	}
	return i
}

// updateEviction adds the run to the evictor or removes it, after a change of the run.
func (r *trackedRun) updateEviction() {
	was := r.evictable
	if r.evictable = r.worker.isEvictable(); r.evictable {
		r.core.evictor.Add(r, r.worker.idleness())
	} else if was {
		r.core.evictor.Remove(r)
	}
}

// Evict suspends the run's generator and frees its memory, unless the run has become active since
// it was due. It takes mu.
func (r *trackedRun) Evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.worker
	// The run may have been answered since, or have events in its batch. With an empty batch there
	// is nothing to append here.
	if !w.isEvictable() || !r.core.evictor.IsIdle(r, time.Now()) || len(w.batch.entries) > 0 {
		return
	}
	if w.generator.Working() { // its work would be lost, as only an answer resumes the run
		r.updateEviction()
		return
	}
	w.batch.discard()
	r.detachWorker()
	w.generator.Stop(generators.ErrSuspended)
}

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

// deleteKeysOfEndedRuns deletes the keys that a process left which was killed.
func (e *Engine) deleteKeysOfEndedRuns(ctx context.Context) error {
	runs, err := e.keys.Runs()
	for _, id := range runs {
		row, rowErr := e.rows.Row(ctx, id)
		switch {
		case errors.Is(rowErr, runlog.ErrNotFound):
		case rowErr != nil:
			err = errors.Join(err, rowErr)
		case row.State.Ended():
			err = errors.Join(err, e.deleteKey(id))
		}
	}
	return err
}
