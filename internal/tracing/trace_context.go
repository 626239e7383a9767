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

// ContextWithTrace returns a copy of ctx with a caller's trace context (W3C Trace
// Context, W3C Baggage). It ignores parts that are empty, malformed or too long.
func (t *Tracer) ContextWithTrace(ctx context.Context, c runlog.Trace) context.Context {
	if c.Parent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": c.Parent, "tracestate": c.State})
	}
	if c.Baggage != "" { // the library's propagator would print malformed baggage
		if b, err := baggage.Parse(c.Baggage); err == nil && b.Len() > 0 {
			ctx = baggage.ContextWithBaggage(ctx, b)
		}
	}
	return ctx
}

// Handler adds the trace context of each request's headers to its context, unless that
// has a span already, as from a middleware.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if trace.SpanContextFromContext(r.Context()).IsValid() {
			next.ServeHTTP(w, r)
			return
		}
		ctx := t.ContextWithTrace(r.Context(), runlog.Trace{
			Parent: r.Header.Get("traceparent"), State: joinHeader(r.Header, "tracestate"), Baggage: joinHeader(r.Header, "baggage"),
		})
		if ctx != r.Context() {
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// joinHeader returns the value of a header that may be repeated.
func joinHeader(h http.Header, name string) string { return strings.Join(h.Values(name), ",") }

// traceFromContext returns the trace of a context in the form that the log stores.
func traceFromContext(ctx context.Context) *runlog.Trace {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return &runlog.Trace{Parent: c["traceparent"], State: c["tracestate"], Baggage: baggage.FromContext(ctx).String()}
}

// runContext returns a context with the trace that a run's log stores. It reports
// whether there is one: a run that was started without tracing has no spans.
func (t *Tracer) runContext(ctx context.Context, c *runlog.Trace) (context.Context, bool) {
	if c == nil {
		return ctx, false
	}
	ctx = t.ContextWithTrace(trace.ContextWithSpan(baggage.ContextWithoutBaggage(ctx), nil), *c)
	return ctx, trace.SpanContextFromContext(ctx).IsValid()
}
