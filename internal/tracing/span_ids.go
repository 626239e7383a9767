package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/internal/runlog"
)

// spanIDs generates random ids of spans, except for those that withSpanID sets.
type spanIDs struct{}

var _ sdk.IDGenerator = spanIDs{}

// NewIDs implements [sdk.IDGenerator].
func (g spanIDs) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements [sdk.IDGenerator].
func (spanIDs) NewSpanID(ctx context.Context, _ trace.TraceID) (span trace.SpanID) {
	if named, ok := ctx.Value(spanIDKey{}).(trace.SpanID); ok {
		return named
	}
	for !span.IsValid() {
		binary.NativeEndian.PutUint64(span[:], rand.Uint64())
	}
	return span
}

type spanIDKey struct{}

// withSpanID returns a context in which the next span has the given id.
func withSpanID(ctx context.Context, id trace.SpanID) context.Context {
	return context.WithValue(ctx, spanIDKey{}, id)
}

// askSpanID returns the id of a question's span. It is derived from the question,
// so that an answer can have it as its parent and a replay can link to it before
// the span is recorded, when the question is settled, perhaps by another process.
func askSpanID(run string, seq uint64) (id trace.SpanID) {
	sum := sha256.Sum256([]byte(runlog.AskID(run, seq)))
	copy(id[:], sum[:])
	return id
}
