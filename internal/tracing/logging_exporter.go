package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// loggingExporter logs when exports begin to fail, and when they succeed again.
// Logging every failure would flood the log.
type loggingExporter struct {
	sdk.SpanExporter
	logger  *slog.Logger
	failing atomic.Bool
}

// ExportSpans implements [sdk.SpanExporter]. It logs errors instead of returning
// them.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && e.failing.CompareAndSwap(false, true):
		e.logger.Warn("sending traces failed; traces are dropped until it succeeds", "err", err)
	case err == nil && e.failing.CompareAndSwap(true, false):
		e.logger.Info("sending traces succeeded again")
	}
	return nil
}
