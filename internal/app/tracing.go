package app

import (
	"context"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/tracing"
)

// startTracing makes the tracer, if c wants traces.
func (a *App) startTracing(ctx context.Context, c Config) (err error) {
	switch {
	case c.Trace:
		return a.exportTraces(ctx)
	case c.TracerProvider != nil:
		a.tracer = tracing.New(c.TracerProvider, Version())
	}
	return nil
}

// exportTraces exports traces until the store is closed.
func (a *App) exportTraces(ctx context.Context) (err error) {
	if a.tracer, err = tracing.Open(ctx, Version(), a.logger); err != nil {
		return err
	}
	closeStore := a.closeStore
	a.closeStore = func() error {
		err := closeStore()
		if lost := a.tracer.Close(); lost != nil { // the collector may be gone: no error of ours
			a.logger.Warn("the last traces could not be sent", "err", lost)
		}
		return err
	}
	return nil
}

// traceContextFunc returns the function that adds the trace of an MCP request to
// its context, or nil if nothing is traced.
func (a *App) traceContextFunc() func(context.Context, runlog.Trace) context.Context {
	if a.tracer == nil {
		return nil
	}
	return a.tracer.ContextWithTrace
}
