// Package clientsession tells code that serves a run which session of a client has
// started it, for limits that hold for each session.
package clientsession

import "context"

type key struct{}

// With returns a context for a run that a session has started. The id is unique in this
// process; an empty one means no session.
func With(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, id)
}

// Of returns the id of the session that has started the run which ctx belongs to; empty
// if none did, or if the run was started by an earlier process.
func Of(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}
