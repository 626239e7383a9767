// Package tracing makes OpenTelemetry traces of what an engine does, and sends
// them to a collector over OTLP/HTTP.
//
// A run's trace is the one of the request that started it, or a new one. The
// run's log keeps its context, so that the pieces of a run meet in one trace
// over days and restarts:
//
//	(the request, elsewhere)
//	└─ start wizard          the request to start it
//	   ├─ run wizard         the generator lives in a process, once for each time
//	   ├─ ask text           from asking to the answer
//	   │  └─ answer          unless the request that brought it is in a trace itself
//	   └─ replay wizard      a process takes the run up again
//
// No attribute holds a word of questions, answers, arguments or results.
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

// A Tracer makes spans. Its methods may be called from several goroutines.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// instrumentationScope names the library that the spans are of.
const instrumentationScope = "github.com/photon-beam/beam"

// Open returns a tracer that sends its spans where the standard variables say
// (OTEL_EXPORTER_OTLP_ENDPOINT and so on; without it http://localhost:4318). It
// waits for no collector: spans that can't be sent are dropped, and the logger
// told. Close it when done.
func Open(ctx context.Context, version string, logger *slog.Logger) (*Tracer, error) {
	s, err := readSettings()
	if err != nil {
		return nil, fmt.Errorf("traces can't be sent: %w", err)
	}
	exporter, err := otlptrace.New(ctx, newClient(s))
	if err != nil {
		return nil, fmt.Errorf("traces can't be sent: %w", err)
	}
	// What the environment says comes last, and wins.
	description, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "beam"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("traces can't be described: %w", err)
	}
	return newTracer(sdk.WithBatcher(&loggingExporter{SpanExporter: exporter, logger: logger}), sdk.WithResource(description)), nil
}

func newTracer(options ...sdk.TracerProviderOption) *Tracer {
	p := sdk.NewTracerProvider(append(options, sdk.WithIDGenerator(spanIDs{}))...)
	return &Tracer{provider: p, tracer: p.Tracer(instrumentationScope)}
}

// closeTimeout is how long the spans that are left may take to be sent.
const closeTimeout = time.Second

// Close sends what is left, for a second at most. What begins later is lost.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return t.provider.Shutdown(ctx)
}
