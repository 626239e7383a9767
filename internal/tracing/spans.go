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

// runAttributes returns the attributes of every span of a run.
func runAttributes(run engine.TracedRun) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.String("beam.run", run.ID), attribute.String("beam.photon", run.Photon))
}

// TraceStart implements [engine.Tracer].
func (t *Tracer) TraceStart(ctx context.Context, run engine.TracedRun) (*runlog.Trace, func(error)) {
	ctx, span := t.tracer.Start(ctx, "start "+run.Photon, trace.WithSpanKind(trace.SpanKindServer), runAttributes(run),
		trace.WithAttributes(attribute.String("beam.surface", run.Surface)))
	return traceFromContext(ctx), func(err error) { endSpan(span, err) }
}

// TraceGenerator implements [engine.Tracer].
func (t *Tracer) TraceGenerator(ctx context.Context, run engine.TracedRun) (context.Context, func(engine.State)) {
	ctx, traced := t.runContext(ctx, run.Trace)
	if !traced {
		return ctx, func(engine.State) {}
	}
	ctx, span := t.tracer.Start(ctx, "run "+run.Photon, runAttributes(run))
	return ctx, func(state engine.State) {
		span.SetAttributes(attribute.String("beam.state", string(state)))
		if state == engine.Failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// TraceAnswer implements [engine.Tracer]. If the answering
// request has a trace, the span belongs to that trace, and links to the question.
func (t *Tracer) TraceAnswer(ctx context.Context, run engine.TracedRun, askSeq uint64) func(error) {
	spanCtx, traced := t.runContext(ctx, run.Trace)
	question := t.askSpanContext(spanCtx, run, askSeq)
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), runAttributes(run)}
	switch {
	case trace.SpanContextFromContext(ctx).IsValid():
		spanCtx = ctx
		if traced {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: question}))
		}
	case traced:
		spanCtx = trace.ContextWithSpanContext(spanCtx, question)
	default:
		return func(error) {}
	}
	_, span := t.tracer.Start(spanCtx, "answer", options...)
	return func(err error) { endSpan(span, err) }
}

// TraceAsk implements [engine.Tracer].
func (t *Tracer) TraceAsk(run engine.TracedRun, q engine.SettledAsk) {
	ctx, traced := t.runContext(context.Background(), run.Trace)
	if !traced {
		return
	}
	_, span := t.tracer.Start(withSpanID(ctx, askSpanID(run.ID, q.Seq)), "ask "+string(q.Kind), trace.WithTimestamp(q.AskedAt), runAttributes(run),
		trace.WithAttributes(attribute.String("beam.outcome", q.Outcome), attribute.String("beam.surface", q.Surface)))
	span.End()
}

// TraceReplay implements [engine.Tracer].
func (t *Tracer) TraceReplay(run engine.TracedRun, began time.Time, settledSeq uint64, complete bool) {
	ctx, traced := t.runContext(context.Background(), run.Trace)
	if !traced {
		return
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(began), runAttributes(run), trace.WithAttributes(attribute.Bool("beam.complete", complete))}
	if settledSeq > 0 {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: t.askSpanContext(ctx, run, settledSeq)}))
	}
	_, span := t.tracer.Start(ctx, "replay "+run.Photon, options...)
	span.End()
}

// askSpanContext returns the context of a question's span: that of the run's start, which
// ctx has, if the provider chooses the ids of spans.
func (t *Tracer) askSpanContext(ctx context.Context, run engine.TracedRun, seq uint64) trace.SpanContext {
	c := trace.SpanContextFromContext(ctx)
	if t.provider == nil {
		return c
	}
	return c.WithSpanID(askSpanID(run.ID, seq)).WithRemote(false)
}

// endSpan ends the span of a request. It omits the text of err, which may quote the
// request.
func endSpan(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
