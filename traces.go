package beam

import (
	"context"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
	"github.com/photon-beam/beam/internal/tracing"
)

// trace has what the engine does traced, until the log is closed.
func (b *running) trace(ctx context.Context, options *run.Options) (err error) {
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

// traced is how MCP requests get into their traces; nil if nothing is traced.
func (b *running) traced() func(context.Context, log.Trace) context.Context {
	if b.tracer == nil {
		return nil
	}
	return b.tracer.With
}
