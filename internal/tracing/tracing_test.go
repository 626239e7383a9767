package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

const testTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestWhatIsMalformedIsAsAbsent(t *testing.T) {
	tests := []struct {
		name       string
		said       runlog.Trace
		span, held string
	}{
		{"whole", runlog.Trace{Parent: testTraceparent, State: "a=1", Baggage: "k=v"}, "b7ad6b7169203331", "k=v"},
		{"nothing", runlog.Trace{}, "0000000000000000", ""},
		{"a version of the future, with more", runlog.Trace{Parent: "01" + testTraceparent[2:] + "-what"}, "b7ad6b7169203331", ""},
		{"no version", runlog.Trace{Parent: "ff" + testTraceparent[2:]}, "0000000000000000", ""},
		{"zeros", runlog.Trace{Parent: "00-00000000000000000000000000000000-b7ad6b7169203331-01"}, "0000000000000000", ""},
		{"upper case", runlog.Trace{Parent: strings.ToUpper(testTraceparent)}, "0000000000000000", ""},
		{"a state alone", runlog.Trace{State: "a=1"}, "0000000000000000", ""},
		{"a malformed state", runlog.Trace{Parent: testTraceparent, State: "===,,"}, "b7ad6b7169203331", ""},
		{"malformed baggage", runlog.Trace{Parent: testTraceparent, Baggage: "k=v,\x00"}, "b7ad6b7169203331", ""},
		{"too much baggage", runlog.Trace{Parent: testTraceparent, Baggage: "k=" + strings.Repeat("v", 9000)}, "b7ad6b7169203331", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx := new(Tracer).ContextWithTrace(t.Context(), tt.said)
			if got := trace.SpanContextFromContext(ctx).SpanID().String(); got != tt.span {
				t.Errorf("the span is %s, not %s", got, tt.span)
			}
			if got := baggage.FromContext(ctx).String(); got != tt.held {
				t.Errorf("the baggage is %q, not %q", got, tt.held)
			}
		})
	}
}

// The trace context that the log stores is small, whatever the caller sends, and
// decodes to the same context.
func FuzzContextWithTrace(f *testing.F) {
	f.Add(testTraceparent, "a=1,b@c=2", "k=v;p=1,l=%20")
	f.Add("00-", "=", ",")
	f.Fuzz(func(t *testing.T, parent, state, held string) {
		tracer := new(Tracer)
		ctx := tracer.ContextWithTrace(context.Background(), runlog.Trace{Parent: parent, State: state, Baggage: held})
		first := traceFromContext(ctx)
		if n := len(first.Parent) + len(first.State) + len(first.Baggage); n > 100<<10 {
			t.Errorf("%d bytes are kept", n)
		}
		if again := traceFromContext(tracer.ContextWithTrace(context.Background(), *first)); again.Parent != first.Parent || again.State != first.State {
			t.Errorf("%+v was read back as %+v", first, again)
		}
	})
}

// A run that was started without tracing has no spans, except for answers whose
// requests are traced.
func TestARunWithoutATraceMakesNoSpans(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.WithSyncer(spans))
	s := engine.TracedRun{ID: "7f3c", Photon: "wizard"}
	ctx, done := tracer.TraceGenerator(t.Context(), s)
	done(engine.Completed)
	tracer.TraceAsk(s, engine.SettledAsk{Seq: 3})
	tracer.TraceAnswer(ctx, s, 3)(nil)
	if got := spans.GetSpans(); len(got) != 0 {
		t.Errorf("there are %d", len(got))
	}
	tracer.TraceAnswer(tracer.ContextWithTrace(ctx, runlog.Trace{Parent: testTraceparent}), s, 3)(errors.New("settled already: Timbuktu"))
	got := spans.GetSpans()
	if len(got) != 1 || got[0].Parent.SpanID().String() != "b7ad6b7169203331" || got[0].Status.Description != "" {
		t.Errorf("the answer's are %+v", got)
	}
}

// A trace that the caller doesn't sample isn't sampled.
func TestWhatIsNotSampledIsNotSent(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.WithSyncer(spans))
	ctx := tracer.ContextWithTrace(t.Context(), runlog.Trace{Parent: strings.TrimSuffix(testTraceparent, "1") + "0"})
	kept, done := tracer.TraceStart(ctx, engine.TracedRun{ID: "7f3c", Photon: "wizard"})
	done(nil)
	tracer.TraceAsk(engine.TracedRun{ID: "7f3c", Photon: "wizard", Trace: kept}, engine.SettledAsk{Seq: 3})
	if got := spans.GetSpans(); len(got) != 0 {
		t.Errorf("%d are sent", len(got))
	}
}

type failingExporter struct {
	sdk.SpanExporter
	err error
}

func (e *failingExporter) ExportSpans(context.Context, []sdk.ReadOnlySpan) error { return e.err }

func TestTheLogIsToldOnceThatTracesAreLost(t *testing.T) {
	var logged bytes.Buffer
	broken := &failingExporter{err: errors.New("connection refused")}
	e := &loggingExporter{SpanExporter: broken, logger: slog.New(slog.NewTextHandler(&logged, nil))}
	for range 3 {
		e.ExportSpans(t.Context(), nil)
	}
	broken.err = nil
	for range 3 {
		e.ExportSpans(t.Context(), nil)
	}
	if n := strings.Count(logged.String(), "\n"); n != 2 || !strings.Contains(logged.String(), "connection refused") {
		t.Errorf("the log says %s", logged.String())
	}
}
