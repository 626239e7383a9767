package engine

import (
	"errors"
	"slices"
)

// The errors of the engine's methods. Their texts are for people.
var (
	ErrPhotonNotFound       = errors.New("there is no such photon")
	ErrRunNotFound          = errors.New("there is no such run")
	ErrAskNotFound          = errors.New("there is no such question")
	ErrForbidden            = errors.New("this belongs to another user")
	ErrSettled              = errors.New("this question has already been settled")
	ErrIdempotencyKeyReused = errors.New("the idempotency key has been used for another request")
	ErrTooManyRuns          = errors.New("too many runs are in progress; stop some first")
	ErrClosing              = errors.New("no new runs are accepted, because Beam is shutting down")
)

// A Caller lists the owners whose runs the caller of a method may see, answer and
// stop. The runs that the caller starts belong to the first.
type Caller []string

// Owner returns the owner of the runs that the caller starts; "" if c is empty.
func (c Caller) Owner() string {
	if len(c) == 0 {
		return ""
	}
	return c[0]
}

// Owns reports whether the caller may access the runs of owner.
func (c Caller) Owns(owner string) bool { return owner != "" && slices.Contains(c, owner) }

// uniqueOwners returns the owners without duplicates, sorted.
func (c Caller) uniqueOwners() []string { return slices.Compact(slices.Sorted(slices.Values(c))) }
