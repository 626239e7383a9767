package app

import (
	"context"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/tracing"
)

// openTracer returns the tracer that c wants; nil for none.
func (c *Config) openTracer(ctx context.Context) (*tracing.Tracer, error) {
	switch {
	case c.Trace:
		return tracing.Open(ctx, Version(), c.Logger)
	case c.TracerProvider != nil:
		return tracing.New(c.TracerProvider, Version()), nil
	}
	return nil, nil
}

// traceContextFunc returns the function that adds the trace of an MCP request to
// its context, or nil if nothing is traced.
func traceContextFunc(t *tracing.Tracer) func(context.Context, runlog.Trace) context.Context {
	if t == nil {
		return nil
	}
	return t.ContextWithTrace
}
