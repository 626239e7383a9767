// Package runaddress passes the address of a run's page from the engine to the photon.
package runaddress

import "context"

type key struct{}

// With returns a context for a run whose page has an address.
func With(ctx context.Context, address func() string) context.Context {
	return context.WithValue(ctx, key{}, address)
}

// Of returns the address of the page of the run that ctx belongs to; empty if it isn't known.
func Of(ctx context.Context) string {
	if address, ok := ctx.Value(key{}).(func() string); ok {
		return address()
	}
	return ""
}
