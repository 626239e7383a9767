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
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audit"
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
	return e
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
// run is working or ctx ends. Then it suspends the durable runs, which can be
// resumed from their logs, and ends the others, and all runs of an ephemeral
// log, as interrupted. It returns when all generators have returned, or an error
// if some haven't two seconds after they were stopped.
func (e *Engine) Close(ctx context.Context) error {
	e.stopAccepting()
	e.retries.Close()
	e.residents.stopAccepting()
	e.residents.waitIdle(ctx)
	e.deadlines.Stop()
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
