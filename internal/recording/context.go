package recording

import "context"

type observerKey struct{}

// WithObserver returns the context of a run whose messages observe records.
func WithObserver(ctx context.Context, observe func(Observed)) context.Context {
	return context.WithValue(ctx, observerKey{}, observe)
}

// ObserverOf returns what records the messages of the run that ctx belongs to; nil if
// nothing does.
func ObserverOf(ctx context.Context) func(Observed) {
	observe, _ := ctx.Value(observerKey{}).(func(Observed))
	return observe
}
