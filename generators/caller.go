package generators

import (
	"context"
	"slices"
)

// A Caller is who uses Beam: whoever starts a run, answers a question, or opens a
// page.
type Caller struct {
	// ID identifies the caller for as long as the caller's runs are kept, and owns
	// the runs that the caller starts. It is at most 256 bytes long and has no
	// control characters.
	ID string `json:"id"`
	// Name is for people. It may be empty.
	Name string `json:"name,omitempty"`
	// Roles are what the caller may do: [RoleOperator], and any that the program
	// that identifies callers assigns.
	Roles []string `json:"roles,omitempty"`
}

// RoleOperator is the role of the person who operates Beam. An operator sees,
// answers and stops the runs of all callers.
const RoleOperator = "operator"

// HasRole reports whether the caller has a role.
func (c Caller) HasRole(role string) bool { return slices.Contains(c.Roles, role) }

// CallerOf returns the caller who started the run that ctx belongs to. It is
// recorded with the run's start, so that a run that resumes has the same caller. It
// is the zero Caller if nobody in particular started the run.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithCaller returns a context for the runs that a caller starts; see [CallerOf].
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

type callerKey struct{}
