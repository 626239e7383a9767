// Package engine starts, answers, ends and lists runs. Every surface uses
// [Engine.Start], [Engine.Follow], [Engine.Answer] and [Engine.Cancel]; nothing
// else starts, answers or ends a run.
//
// The engine appends everything that happens in a run to the run's log. The log
// is the source of truth: the state in memory can be rebuilt from it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/engine/journal"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/retention"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// An Engine runs photons. Its methods may be called from several goroutines.
type Engine struct {
	*core
	lists
	questions
	reader
	finishedRuns
	resumer

	allowAll      bool
	offers        func(name string) bool // nil for all
	stopAccepting context.CancelFunc
	cancel        context.CancelCauseFunc
}

// New returns an engine. Call [Engine.Recover] before using the engine, and
// [Engine.Close] when done with it.
func New(o Options) *Engine {
	c := newCore(o)
	e := &Engine{core: c, lists: lists{c, new(unanswerableAsks)}, questions: questions{c}, reader: reader{c}, finishedRuns: finishedRuns{c}, resumer: resumer{c}, allowAll: o.AllowAll, offers: o.Offers}
	c.ctx, e.cancel = context.WithCancelCause(c.generatorCtx)
	c.acceptCtx, e.stopAccepting = context.WithCancel(c.ctx)
	c.keeper = newKeeper(c)
	return e
}

// Recover resumes durable runs and marks the other unfinished runs interrupted. It must be
// called once, before the engine is used.
//
// A durable run that waits for an answer or sleeps is resumed only when it is answered
// or its sleep ends. A run that doesn't fit this program is parked; one that is parked and fits
// goes on soon. Runs that can't be read are logged.
func (e *Engine) Recover(ctx context.Context) error {
	defer func() {
		go e.keeper.Run()
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
	if e.share != nil {
		go e.share.Keep(e.acceptCtx, sharedRuns{e.resumer}, e.logger)
	}
	waits := 0 // for a check
	for row, err := range pages.Each(e.rows.Unfinished, pages.StartOf) {
		switch {
		case err != nil:
			return err
		case !e.share.Holds(row.Worker):
		case e.isUnchecked(row.ID, &row.Run):
			waits++
		default:
			e.recoverOrLog(row.ID)
		}
	}
	if waits > 0 {
		e.workers.Go(e.recoverUnchecked)
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
	unfinished, err := e.rows.CountUnfinished(ctx)
	counts := make(map[string]int)
	for h, n := range unfinished {
		counts[h.Photon] += n
	}
	for photon, n := range counts {
		if _, found := e.photons.Lookup(photon); !found {
			e.logger.Warn("durable runs wait for a photon that this program does not register", "photon", photon, "runs", n)
		}
	}
	return err
}

func (x resumer) logUnreadableRun(id string, err error) {
	x.logger.Error("skipping an unreadable run", "run", id, "err", err)
}

// maxChecks is how many runs are checked at once after a start, because their code may take long.
const maxChecks = 8

// recoverUnchecked recovers the runs that another program has recorded or parked. Some may have been
// checked meanwhile, because somebody looks at them; others work already.
func (x resumer) recoverUnchecked() {
	var checks errgroup.Group
	checks.SetLimit(maxChecks)
	defer checks.Wait()
	for row, err := range pages.Each(x.rows.Unfinished, pages.StartOf) {
		if x.acceptCtx.Err() != nil {
			return // the next process recovers them
		}
		if err != nil {
			x.logger.Error("looking for runs to recover", "err", err)
			return
		}
		checks.Go(func() error { x.recoverOrLog(row.ID); return nil })
	}
}

func (x resumer) recoverOrLog(id string) {
	if err := x.recoverRun(id); err != nil && !errors.Is(err, ErrRunNotFound) {
		x.logUnreadableRun(id, err)
	}
}

// recoverRun resumes a durable run that is unfinished and fits; load ends others.
func (x resumer) recoverRun(id string) error {
	r, err := x.load(id)
	if err != nil {
		return err
	}
	x.ensureChecked(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.canResume() || r.Parked != nil {
		return nil
	}
	if err := x.replay(x.acceptCtx, r); err != nil && x.acceptCtx.Err() == nil {
		x.logger.Error("resuming a run", "run", id, "err", err)
		x.queue(r)
	}
	return nil
}

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

// Cancel stops a run: it withdraws the run's open questions and cancels the
// generator's context, after which the generator's deferred functions run.
// The surface that the request came from is recorded. Canceling a run that has ended is
// not an error. The error is [ErrRunNotFound], [ErrForbidden], or the log's.
func (e *Engine) Cancel(ctx context.Context, caller generators.Caller, id, surface string) error {
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	ended := r.ended.Load()
	if err := r.stopRun(caller, surface); err != nil || ended {
		return err
	}
	stopped := r.auditEvent(audit.RunStopped, caller)
	stopped.Surface = surface
	e.audit.Record(stopped)
	return nil
}

// Closing returns a channel that is closed when the engine no longer accepts runs.
func (e *Engine) Closing() <-chan struct{} { return e.acceptCtx.Done() }

// Close closes the engine gracefully. It accepts no more runs and waits until no
// run is working or ctx ends; of those that other processes can go on with, until no step is in
// progress. Then it suspends the durable runs, which can be
// resumed from their logs, and ends the others, and all runs of an ephemeral
// log, as interrupted. It returns when all generators have returned, or an error
// if some haven't two seconds after they were stopped.
func (e *Engine) Close(ctx context.Context) error {
	e.stopAccepting()
	e.retries.Close()
	e.residents.stopAccepting()
	if e.share != nil { // others go on with what is in no step
		for _, r := range e.residents.all() {
			if err := handOver(r); err != nil {
				e.logger.Error("handing a run over", "run", r.id, "err", err)
			}
		}
	}
	e.residents.waitIdle(ctx)
	e.deadlines.Stop()
	e.keeper.Pause() // for good: the store is about to be closed
	for _, r := range e.residents.all() {
		if err := r.suspendOrInterrupt(); err != nil {
			e.logger.Error("suspending a run", "run", r.id, "err", err)
		}
	}
	e.cancel(generators.ErrSuspended)
	defer e.messages.Close()
	return e.waitForGenerators(ctx)
}

// shutdownGrace is how long Close waits for generators that it has stopped.
const shutdownGrace = 2 * time.Second

func (e *Engine) waitForGenerators(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("some tools did not stop in time")
	}
}

// Budgets returns the budgets that the engine keeps, for metrics.
func (e *Engine) Budgets() []*budget.Budget {
	return []*budget.Budget{e.residents.working, e.uploads, e.disk}
}

// The errors of the engine's methods. Their texts are for people.
var (
	ErrPhotonNotFound       = errors.New("there is no such photon")
	ErrRunNotFound          = errors.New("there is no such run")
	ErrAskNotFound          = errors.New("there is no such question")
	ErrForbidden            = errors.New("this belongs to another user")
	ErrOthersAnswer         = errors.New("this question is for others to answer") // see [OthersAnswerError]
	ErrSettled              = journal.ErrSettled
	ErrParked               = errors.New("this run is parked") // see [ParkedError]
	ErrIdempotencyKeyReused = errors.New("the idempotency key has been used for another request")
	ErrTooManyRuns          = errors.New("too many runs are in progress; stop some first")
	ErrRunEnded             = errors.New("this run has ended")
	ErrRunNotEnded          = errors.New("this run has not ended; stop it first")
	ErrRunInUse             = errors.New("someone is reading this run; try again later")
	ErrClosing              = errors.New("no new runs are accepted, because Beam is shutting down")
	ErrDeletionPaused       = retention.ErrPaused // see [Engine.PauseDeletion]
)

// IsTransient reports whether an append or answer that failed with err may succeed later.
func IsTransient(err error) bool {
	return errors.Is(err, budget.ErrExceeded) || errors.Is(err, runlog.ErrDiskFull) || errors.Is(err, runlog.ErrUnavailable) || errors.Is(err, runlog.ErrUncertain)
}

// A toolError is an error that the tool's code caused. Its text is for people.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

func toolErrorf(format string, args ...any) error { return &toolError{fmt.Sprintf(format, args...)} }

// An unreadableLogError means that a log could be read but not decoded.
type unreadableLogError struct{ error }

func (e unreadableLogError) Unwrap() error { return e.error }

// isUnrecoverable reports whether a run's history is lost, so that no later attempt
// can resume the run.
func isUnrecoverable(err error) bool {
	var unreadable unreadableLogError
	return errors.As(err, &unreadable) || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrChanged) || errors.Is(err, runlog.ErrNotFound)
}

// SetIdleTimeout stops a run after a time in which nobody followed or answered it.
// It is for a surface whose client has left the run with an open question and
// may not come back: a question otherwise waits for days. Calling the method
// again replaces the timeout; [Engine.ClearIdleTimeout] and the run's end remove
// it.
//
// An answer from any surface restarts the timeout. A run that is being followed,
// by a loop over [Engine.Follow] or a [Waiter], is not stopped: when the timeout
// expires, it restarts.
//
// Only runs with a timeout have a timer. The timeout isn't recorded: after a
// restart, a durable run has none until it is set again. Setting the timeout of
// a run that has ended, or while the engine is closing, does nothing. The error
// is [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) SetIdleTimeout(caller generators.Caller, id string, timeout time.Duration) error {
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle.stop()
	if !r.State.Ended() && e.acceptCtx.Err() == nil {
		r.idle.start(timeout, r.stopIfIdle)
	}
	return nil
}

// ClearIdleTimeout removes the timeout that [Engine.SetIdleTimeout] has set, if
// any. The error is [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) ClearIdleTimeout(caller generators.Caller, id string) error {
	r, err := e.findRun(caller, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle.stop()
	return nil
}

// Photons returns the photons that a caller may see and start, in the order of their
// names.
func (e *Engine) Photons(caller generators.Caller) []*generators.Photon {
	return slices.DeleteFunc(e.photons.All(), func(p *generators.Photon) bool { return !e.allows(p, caller) })
}

// LookupPhoton returns the photon of a name, if there is one that the caller may see
// and start.
func (e *Engine) LookupPhoton(caller generators.Caller, name string) (*generators.Photon, bool) {
	p, ok := e.photons.Lookup(name)
	if !ok || !e.allows(p, caller) {
		return nil, false
	}
	return p, true
}

// allows reports whether a caller may see and start a photon. Nobody may whose
// permission can't be determined because the photon's code panics.
func (e *Engine) allows(p *generators.Photon, caller generators.Caller) (ok bool) {
	if e.offers != nil && !e.offers(p.Name()) {
		return false
	}
	allow := p.Options().Allow
	if allow == nil || e.allowAll {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			e.logger.Error("a photon's Allow panicked", "photon", p.Name(), "panic", fmt.Sprint(v))
			ok = false
		}
	}()
	return allow(caller) == nil
}

// OnSample sets a function that is called with the id of each question to a model that a
// run asks from now on. It must not block. OnSample must be called before
// [Engine.Recover].
func (e *Engine) OnSample(f func(askID string)) { e.onSample = f }

// OnAsk sets a function that is called with the id of each question that a run asks from now
// on. It must not block, nor call the engine. OnAsk must be called before [Engine.Recover].
func (e *Engine) OnAsk(f func(askID string)) { e.onAsk = f }
