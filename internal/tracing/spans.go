package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

var _ engine.Tracer = (*Tracer)(nil)

// runAttributes are the attributes that every span of a run has.
func runAttributes(s engine.TracedRun) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.String("beam.run", s.ID), attribute.String("beam.photon", s.Photon))
}

// TraceStart implements [run.Tracer].
func (t *Tracer) TraceStart(ctx context.Context, s engine.TracedRun) (*runlog.Trace, func(error)) {
	ctx, span := t.tracer.Start(ctx, "start "+s.Photon, trace.WithSpanKind(trace.SpanKindServer), runAttributes(s),
		trace.WithAttributes(attribute.String("beam.surface", s.Surface)))
	return traceFromContext(ctx), func(err error) { endSpan(span, err) }
}

// TraceGenerator implements [run.Tracer].
func (t *Tracer) TraceGenerator(ctx context.Context, s engine.TracedRun) (context.Context, func(engine.State)) {
	ctx, traced := t.runContext(ctx, s.Trace)
	if !traced {
		return ctx, func(engine.State) {}
	}
	ctx, span := t.tracer.Start(ctx, "run "+s.Photon, runAttributes(s))
	return ctx, func(state engine.State) {
		span.SetAttributes(attribute.String("beam.state", string(state)))
		if state == engine.Failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// TraceAnswer implements [run.Tracer]. An answer whose request is in a trace itself
// is in that, and linked to the question.
func (t *Tracer) TraceAnswer(ctx context.Context, s engine.TracedRun, asked uint64) func(error) {
	in, traced := t.runContext(ctx, s.Trace)
	question := trace.SpanContextFromContext(in).WithSpanID(askSpanID(s.ID, asked)).WithRemote(false)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), runAttributes(s)}
	switch {
	case trace.SpanContextFromContext(ctx).IsValid():
		in = ctx
		if traced {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: question}))
		}
	case traced:
		in = trace.ContextWithSpanContext(in, question)
	default:
		return func(error) {}
	}
	_, span := t.tracer.Start(in, "answer", options...)
	return func(err error) { endSpan(span, err) }
}

// TraceAsk implements [run.Tracer].
func (t *Tracer) TraceAsk(s engine.TracedRun, q engine.SettledAsk) {
	ctx, traced := t.runContext(context.Background(), s.Trace)
	if !traced {
		return
	}
	_, span := t.tracer.Start(withSpanID(ctx, askSpanID(s.ID, q.Seq)), "ask "+string(q.Kind), trace.WithTimestamp(q.AskedAt), runAttributes(s),
		trace.WithAttributes(attribute.String("beam.outcome", q.Outcome), attribute.String("beam.surface", q.Surface)))
	span.End()
}

// TraceReplay implements [run.Tracer].
func (t *Tracer) TraceReplay(s engine.TracedRun, began time.Time, settled uint64, whole bool) {
	ctx, traced := t.runContext(context.Background(), s.Trace)
	if !traced {
		return
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(began), runAttributes(s), trace.WithAttributes(attribute.Bool("beam.whole", whole))}
	if settled > 0 {
		question := trace.SpanContextFromContext(ctx).WithSpanID(askSpanID(s.ID, settled))
		options = append(options, trace.WithLinks(trace.Link{SpanContext: question}))
	}
	_, span := t.tracer.Start(ctx, "replay "+s.Photon, options...)
	span.End()
}

// endSpan ends the span of a request. Why it was refused may quote what it held.
func endSpan(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
