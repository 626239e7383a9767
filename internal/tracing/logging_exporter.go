package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// loggingExporter is an exporter that logs when spans can't be sent any more, and when
// they can be again: every batch that fails would flood the log.
type loggingExporter struct {
	sdk.SpanExporter
	logger  *slog.Logger
	failing atomic.Bool
}

// ExportSpans implements [sdk.SpanExporter]. Its error has been logged.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && e.failing.CompareAndSwap(false, true):
		e.logger.Warn("traces can't be sent, and are dropped until they can", "err", err)
	case err == nil && e.failing.CompareAndSwap(true, false):
		e.logger.Info("traces are sent again")
	}
	return nil
}
