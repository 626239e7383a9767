package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/internal/log"
)

// With returns a context in the trace that a caller says it is in (W3C Trace
// Context, W3C Baggage). What is malformed or too long is as absent, and what is
// absent leaves the context as it is.
func (t *Tracer) With(ctx context.Context, c log.Trace) context.Context {
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
		in := t.With(r.Context(), log.Trace{
			Parent: r.Header.Get("traceparent"), State: list(r.Header, "tracestate"), Baggage: list(r.Header, "baggage"),
		})
		if in != r.Context() {
			r = r.WithContext(in)
		}
		next.ServeHTTP(w, r)
	})
}

// list is the value of a header that may come in parts.
func list(h http.Header, name string) string { return strings.Join(h.Values(name), ",") }

// kept is what a log keeps of a context.
func kept(ctx context.Context) *log.Trace {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return &log.Trace{Parent: c["traceparent"], State: c["tracestate"], Baggage: baggage.FromContext(ctx).String()}
}

// within is a context in the trace that a run's log keeps. A run that was
// started while nothing was traced has none, and makes no spans.
func (t *Tracer) within(ctx context.Context, c *log.Trace) (context.Context, bool) {
	if c == nil {
		return ctx, false
	}
	ctx = t.With(trace.ContextWithSpan(baggage.ContextWithoutBaggage(ctx), nil), *c)
	return ctx, trace.SpanContextFromContext(ctx).IsValid()
}
