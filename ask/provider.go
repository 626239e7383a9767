package ask

import "context"

// A Provider gets answers to questions: from a terminal, an MCP client or a test.
// Ask returns the answer, or [ErrUnsupported] if it can't ask this question. It
// must return when ctx ends, for example because another surface settled the
// question. It may be called from several goroutines.
type Provider interface {
	Ask(ctx context.Context, key string, q *Question) (Answer, error)
}

// ProviderFunc adapts a function to a [Provider].
type ProviderFunc func(ctx context.Context, key string, q *Question) (Answer, error)

// Ask calls f.
func (f ProviderFunc) Ask(ctx context.Context, key string, q *Question) (Answer, error) {
	return f(ctx, key, q)
}

// Nobody is a provider that returns [ErrUnsupported] for every question.
var Nobody Provider = ProviderFunc(func(context.Context, string, *Question) (Answer, error) {
	return Answer{}, ErrUnsupported
})
