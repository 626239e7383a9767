package generators

import (
	"context"
	"slices"

	"github.com/photon-beam/beam/internal/call"
	"github.com/photon-beam/beam/internal/runaddress"
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
	c, _ := ctx.Value(call.CallerKey{}).(Caller)
	return c
}

// Root returns the folder that the operator allows photons to read. It reports false
// if there is none. A photon must open the folder with [os.OpenRoot], so that no path
// or link leads out of it, and must not change anything in it.
func Root(ctx context.Context) (dir string, ok bool) {
	dir, _ = ctx.Value(call.RootKey{}).(string)
	return dir, dir != ""
}

// RunURL returns the address of the page of the run that ctx belongs to, for a message that
// the photon sends somebody, who can follow the run there and answer. It carries no
// authority: whoever opens it signs in. It is empty if Beam doesn't know where its pages
// are, as over stdio before somebody needed one, and in tests. It may be another one after
// a restart.
func RunURL(ctx context.Context) string { return runaddress.Of(ctx) }
