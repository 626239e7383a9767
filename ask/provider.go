package ask

import "context"

// A Provider puts a question before whoever can answer it: a terminal, an MCP
// client, a test. It returns when there is an answer, or with ErrUnsupported
// if it can't ask this question, or when ctx ends, which it does when the
// question is settled elsewhere. It may be called from several goroutines.
type Provider interface {
	Ask(ctx context.Context, key string, q *Question) (Answer, error)
}

// ProviderFunc is a function that is a [Provider].
type ProviderFunc func(ctx context.Context, key string, q *Question) (Answer, error)

// Ask calls f.
func (f ProviderFunc) Ask(ctx context.Context, key string, q *Question) (Answer, error) {
	return f(ctx, key, q)
}

// Nobody is the provider where nobody can be asked.
var Nobody Provider = ProviderFunc(func(context.Context, string, *Question) (Answer, error) {
	return Answer{}, ErrUnsupported
})
