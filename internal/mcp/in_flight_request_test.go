package mcp

import (
	"context"
	"errors"
	"testing"
)

// All who wait for the end of a request learn of it, whether they begin to wait before
// or after.
func TestCancelReachesAll(t *testing.T) {
	r := &inFlightRequest{parentContext: context.Background()}
	first, second := r.newContext(), r.newContext()
	var got []error
	r.onCancel(func(cause error) { got = append(got, cause) })
	r.cancel(errRequestCancelled)
	r.cancel(errRequestServed) // the first cause wins
	r.onCancel(func(cause error) { got = append(got, cause) })
	for _, ctx := range []context.Context{first, second, r.newContext()} {
		if cause := context.Cause(ctx); !errors.Is(cause, errRequestCancelled) {
			t.Errorf("a context of the request ends with %v", cause)
		}
	}
	if len(got) != 2 || got[0] != errRequestCancelled || got[1] != errRequestCancelled {
		t.Errorf("the functions are called with %v", got)
	}
}
