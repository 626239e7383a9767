// Package runpause lets the code of a run tell the engine that the run does nothing, because it
// waits for something other than an answer, a time or another run: whoever called it then need
// not wait either.
package runpause

import "context"

type key struct{}

// With returns a context for a run. The engine's begin is called with the reason, a sentence
// without its full stop, when the run begins to wait, and end when it goes on.
func With(ctx context.Context, begin func(reason string) (end func())) context.Context {
	return context.WithValue(ctx, key{}, begin)
}

// Begin says that the run which ctx belongs to waits. The caller calls end when it goes on.
func Begin(ctx context.Context, reason string) (end func()) {
	if begin, ok := ctx.Value(key{}).(func(string) func()); ok {
		return begin(reason)
	}
	return func() {}
}
