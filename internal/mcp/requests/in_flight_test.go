package requests

import (
	"context"
	"errors"
	"testing"
)

// All who wait for the end of a request learn of it, whether they begin to wait before
// or after.
func TestCancelReachesAll(t *testing.T) {
	r := &InFlight{parent: context.Background()}
	first, second := r.NewContext(), r.NewContext()
	var got []error
	r.OnCancel(func(cause error) { got = append(got, cause) })
	r.Cancel(ErrCancelled)
	r.Cancel(ErrServed) // the first cause wins
	r.OnCancel(func(cause error) { got = append(got, cause) })
	for _, ctx := range []context.Context{first, second, r.NewContext()} {
		if cause := context.Cause(ctx); !errors.Is(cause, ErrCancelled) {
			t.Errorf("a context of the request ends with %v", cause)
		}
	}
	if len(got) != 2 || got[0] != ErrCancelled || got[1] != ErrCancelled {
		t.Errorf("the functions are called with %v", got)
	}
}
