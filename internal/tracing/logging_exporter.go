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
func (t *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := t.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && t.failing.CompareAndSwap(false, true):
		t.logger.Warn("traces can't be sent, and are dropped until they can", "err", err)
	case err == nil && t.failing.CompareAndSwap(true, false):
		t.logger.Info("traces are sent again")
	}
	return nil
}
