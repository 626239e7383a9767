package oauth

import (
	"context"
	"sync"
	"time"
)

// How long a value of the issuer is used, and how often it is fetched.
const (
	freshFor   = 10 * time.Minute // so long, at most, keys remain valid that the issuer withdraws
	staleFor   = time.Hour        // while it can't be fetched
	retryAfter = 5 * time.Second  // between two attempts, which tokens with unknown keys would cause
)

// A cached value is fetched when it is needed, by one request at a time.
type cached[T any] struct {
	fetch    func(context.Context) (T, error)
	fetching chan struct{} // holds a token while a request fetches

	mu      sync.Mutex
	value   T
	fetched time.Time // when value was
	tried   time.Time // when it was last tried
	err     error     // of the last attempt
}

func newCached[T any](fetch func(context.Context) (T, error)) *cached[T] {
	return &cached[T]{fetch: fetch, fetching: make(chan struct{}, 1)}
}

// get returns the value, and fetches it if it is not fresh, or if has is false for it. It
// fetches at most every retryAfter, and returns an older value if that fails.
func (c *cached[T]) get(ctx context.Context, has func(T) bool) (T, error) {
	if v, ok := c.fresh(has); ok {
		return v, nil
	}
	select {
	case c.fetching <- struct{}{}:
		defer func() { <-c.fetching }()
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
	if v, ok := c.fresh(has); ok { // another request has fetched it
		return v, nil
	}
	return c.refresh(ctx)
}

// fresh returns the value if it need not be fetched.
func (c *cached[T]) fresh(has func(T) bool) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, time.Since(c.fetched) < freshFor && has(c.value)
}

// refresh fetches the value, unless that was just tried.
func (c *cached[T]) refresh(ctx context.Context) (T, error) {
	c.mu.Lock()
	due := time.Since(c.tried) >= retryAfter
	c.mu.Unlock()
	var v T
	var err error
	if due {
		// Not canceled with its request, whose client would decide what others get.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		v, err = c.fetch(ctx)
		cancel()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if due {
		c.tried, c.err = time.Now(), err
	}
	if due && err == nil {
		c.value, c.fetched = v, c.tried
	}
	if !c.fetched.IsZero() && time.Since(c.fetched) < staleFor {
		return c.value, nil
	}
	return *new(T), c.err
}
