package engine

import (
	"errors"
	"slices"
)

// What the verbs refuse.
var (
	ErrPhotonNotFound       = errors.New("there is no such photon")
	ErrRunNotFound          = errors.New("there is no such run")
	ErrAskNotFound          = errors.New("there is no such question")
	ErrForbidden            = errors.New("this belongs to somebody else")
	ErrSettled              = errors.New("this question is settled already")
	ErrIdempotencyKeyReused = errors.New("the idempotency key was used before, for another request")
	ErrTooManyRuns          = errors.New("too many runs are going on; end some first")
	ErrClosing              = errors.New("no new runs are taken: Beam is shutting down")
)

// A Caller is who uses a verb: the owners whose runs they may see, answer and
// stop. What they start belongs to the first.
type Caller []string

// Owner is to whom new runs belong.
func (c Caller) Owner() string {
	if len(c) == 0 {
		return ""
	}
	return c[0]
}

// Owns tells whether what belongs to owner is the caller's.
func (c Caller) Owns(owner string) bool { return owner != "" && slices.Contains(c, owner) }

// uniqueOwners lists the owners without repeats.
func (c Caller) uniqueOwners() []string { return slices.Compact(slices.Sorted(slices.Values(c))) }
