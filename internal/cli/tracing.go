package cli

import (
	"context"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/tracing"
)

// startTracing has what the engine does traced, until the log is closed.
func (b *app) startTracing(ctx context.Context, options *engine.Options) (err error) {
	if b.tracer, err = tracing.Open(ctx, version(), b.logger); err != nil {
		return err
	}
	options.Tracer = b.tracer
	closeLog := b.closeLog
	b.closeLog = func() error {
		err := closeLog()
		if lost := b.tracer.Close(); lost != nil { // no fault of ours, if its collector is away
			b.logger.Warn("the last traces could not be sent", "err", lost)
		}
		return err
	}
	return nil
}

// traceContextFunc is how MCP requests get into their traces; nil if nothing is traced.
func (b *app) traceContextFunc() func(context.Context, runlog.Trace) context.Context {
	if b.tracer == nil {
		return nil
	}
	return b.tracer.ContextWithTrace
}
