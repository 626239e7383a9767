package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/internal/runlog"
)

// ContextWithTrace returns a context in the trace that a caller says it is in (W3C Trace
// Context, W3C Baggage). What is malformed or too long is as absent, and what is
// absent leaves the context as it is.
func (t *Tracer) ContextWithTrace(ctx context.Context, c runlog.Trace) context.Context {
	if c.Parent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": c.Parent, "tracestate": c.State})
	}
	if c.Baggage != "" { // not by the library's propagator, which prints what is malformed
		if b, err := baggage.Parse(c.Baggage); err == nil && b.Len() > 0 {
			ctx = baggage.ContextWithBaggage(ctx, b)
		}
	}
	return ctx
}

// Handler serves requests in the traces that their headers say.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.ContextWithTrace(r.Context(), runlog.Trace{
			Parent: r.Header.Get("traceparent"), State: joinHeader(r.Header, "tracestate"), Baggage: joinHeader(r.Header, "baggage"),
		})
		if ctx != r.Context() {
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// joinHeader is the value of a header that may come in parts.
func joinHeader(h http.Header, name string) string { return strings.Join(h.Values(name), ",") }

// traceFromContext is what a log keeps of a context.
func traceFromContext(ctx context.Context) *runlog.Trace {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return &runlog.Trace{Parent: c["traceparent"], State: c["tracestate"], Baggage: baggage.FromContext(ctx).String()}
}

// runContext is a context in the trace that a run's log keeps. A run that was
// started while nothing was traced has none, and makes no spans.
func (t *Tracer) runContext(ctx context.Context, c *runlog.Trace) (context.Context, bool) {
	if c == nil {
		return ctx, false
	}
	ctx = t.ContextWithTrace(trace.ContextWithSpan(baggage.ContextWithoutBaggage(ctx), nil), *c)
	return ctx, trace.SpanContextFromContext(ctx).IsValid()
}
