package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
)

type panicsKey struct{}

// WithPanics returns a context with which [Engine.Follow] and [Engine.Read] tell operators what
// a tool panicked with, and where. Others, and those who read to pass on what they read, such as
// to MCP clients, are told only that it panicked.
func WithPanics(ctx context.Context) context.Context {
	return context.WithValue(ctx, panicsKey{}, true)
}

// seesPanics reports whether a reader is told of them.
func seesPanics(ctx context.Context, c generators.Caller) bool {
	return ctx.Value(panicsKey{}) != nil && usesAllRuns(c)
}

// hidePanic returns a batch without what the run's tool panicked with.
func hidePanic(batch []runlog.Entry) []runlog.Entry {
	n := len(batch) - 1
	if n < 0 || batch[n].Kind != runlog.KindFinished {
		return batch
	}
	batch = slices.Clone(batch)
	batch[n] = batch[n].WithoutPanic()
	return batch
}

// The sizes to which what is kept of a panic is truncated.
const (
	maxPanicBytes = 8 << 10
	maxStackBytes = 32 << 10
)

// describePanic returns what operators are told of a panic, and logs it.
func (w *worker) describePanic(p *generators.PanicError) string {
	value, stack := w.secrets.Text(fmt.Sprint(p.Value)), w.secrets.Text(string(p.Stack))
	w.core.logger.Error("a tool panicked", "run", w.id, "photon", w.Start.Photon, "panic", value, "stack", stack)
	return "panic: " + humanize.TruncateBytes(value, maxPanicBytes, " …") + "\n\n" + humanize.TruncateBytes(stack, maxStackBytes, "\n…")
}
