// Package tracing records OpenTelemetry traces of an engine, and sends them to a
// collector over OTLP/HTTP.
//
// A run belongs to the trace of the request that started it, or to a new one. The
// run's log stores the trace context, so that all spans of a run are in one trace,
// across days and restarts:
//
//	(the caller's span)
//	└─ start wizard          the request that starts the run
//	   ├─ run wizard         each time that the generator runs
//	   ├─ ask text           from asking to the answer
//	   │  └─ answer          unless the answering request has a trace of its own
//	   └─ replay wizard      each time that a process resumes the run
//
// No attribute contains text of questions, answers, arguments or results.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A Tracer records spans. Its methods may be called from several goroutines.
type Tracer struct {
	provider *sdk.TracerProvider // nil if the caller of New has the provider
	tracer   trace.Tracer
}

// New returns a tracer that records spans with a provider, which the caller shuts down.
// Spans get the provider's own ids, so that no span can name a question as its parent
// before that question is settled: the span of an answer belongs to the run instead.
func New(p trace.TracerProvider, version string) *Tracer {
	return &Tracer{tracer: p.Tracer(instrumentationScope, trace.WithInstrumentationVersion(version))}
}

// instrumentationScope is the name of the instrumentation scope of all spans.
const instrumentationScope = "github.com/photon-beam/beam"

// Open returns a tracer that is configured by the standard environment variables
// (OTEL_EXPORTER_OTLP_ENDPOINT and so on); the default endpoint is
// http://localhost:4318. Open doesn't wait for the collector: spans that can't be
// sent are dropped, and the logger gets a warning. The caller must close the
// tracer.
func Open(ctx context.Context, version string, logger *slog.Logger) (*Tracer, error) {
	s, err := readSettings()
	if err != nil {
		return nil, fmt.Errorf("traces can't be sent: %w", err)
	}
	return open(ctx, newClient(s), version, logger)
}

// open is [Open] with a client.
func open(ctx context.Context, c *client, version string, logger *slog.Logger) (*Tracer, error) {
	exporter, err := otlptrace.New(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("traces can't be sent: %w", err)
	}
	// The environment comes last, and so overrides the attributes.
	description, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "beam"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("describing the resource of traces: %w", err)
	}
	return newTracer(sdk.WithBatcher(&loggingExporter{SpanExporter: exporter, logger: logger}), sdk.WithResource(description)), nil
}

func newTracer(options ...sdk.TracerProviderOption) *Tracer {
	p := sdk.NewTracerProvider(append(options, sdk.WithIDGenerator(spanIDs{}))...)
	return &Tracer{provider: p, tracer: p.Tracer(instrumentationScope)}
}

// closeTimeout is how long Close may take to send the remaining spans.
const closeTimeout = time.Second

// Close sends the remaining spans of a tracer that [Open] returned, for at most a
// second. Later spans are dropped.
func (t *Tracer) Close() error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return t.provider.Shutdown(ctx)
}
