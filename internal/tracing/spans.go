package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

var _ run.Tracer = (*Tracer)(nil)

// about are the attributes that every span of a run has.
func about(s run.Subject) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.String("beam.run", s.Run), attribute.String("beam.photon", s.Photon))
}

// Start implements [run.Tracer].
func (t *Tracer) Start(ctx context.Context, s run.Subject) (*log.Trace, func(error)) {
	ctx, span := t.spans.Start(ctx, "start "+s.Photon, trace.WithSpanKind(trace.SpanKindServer), about(s),
		trace.WithAttributes(attribute.String("beam.surface", s.Surface)))
	return kept(ctx), func(err error) { end(span, err) }
}

// Live implements [run.Tracer].
func (t *Tracer) Live(ctx context.Context, s run.Subject) (context.Context, func(run.State)) {
	ctx, traced := t.within(ctx, s.Trace)
	if !traced {
		return ctx, func(run.State) {}
	}
	ctx, span := t.spans.Start(ctx, "run "+s.Photon, about(s))
	return ctx, func(state run.State) {
		span.SetAttributes(attribute.String("beam.state", string(state)))
		if state == run.Failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Answer implements [run.Tracer]. An answer whose request is in a trace itself
// is in that, and linked to the question.
func (t *Tracer) Answer(ctx context.Context, s run.Subject, asked uint64) func(error) {
	in, traced := t.within(ctx, s.Trace)
	question := trace.SpanContextFromContext(in).WithSpanID(askSpan(s.Run, asked)).WithRemote(false)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), about(s)}
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
	_, span := t.spans.Start(in, "answer", options...)
	return func(err error) { end(span, err) }
}

// Settled implements [run.Tracer].
func (t *Tracer) Settled(s run.Subject, q run.Settled) {
	ctx, traced := t.within(context.Background(), s.Trace)
	if !traced {
		return
	}
	_, span := t.spans.Start(naming(ctx, askSpan(s.Run, q.Asked)), "ask "+string(q.Kind), trace.WithTimestamp(q.Since), about(s),
		trace.WithAttributes(attribute.String("beam.outcome", q.Outcome), attribute.String("beam.surface", q.By)))
	span.End()
}

// Replayed implements [run.Tracer].
func (t *Tracer) Replayed(s run.Subject, began time.Time, settled uint64, whole bool) {
	ctx, traced := t.within(context.Background(), s.Trace)
	if !traced {
		return
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(began), about(s), trace.WithAttributes(attribute.Bool("beam.whole", whole))}
	if settled > 0 {
		question := trace.SpanContextFromContext(ctx).WithSpanID(askSpan(s.Run, settled))
		options = append(options, trace.WithLinks(trace.Link{SpanContext: question}))
	}
	_, span := t.spans.Start(ctx, "replay "+s.Photon, options...)
	span.End()
}

// end ends the span of a request. Why it was refused may quote what it held.
func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
