package ask

import (
	"cmp"
	"fmt"
	"time"
)

// A Policy limits what photons may ask. The zero Policy only rejects forms that
// ask for secrets.
type Policy struct {
	// Timeout is how long a question without a timeout of its own may stay open; 0
	// means no limit.
	Timeout time.Duration
	// OpenPerRun and OpenPerOwner limit how many questions may be open at once; 0
	// means no limit.
	OpenPerRun   int
	OpenPerOwner int
	// AllowSecrets admits forms that ask for secrets. Answers to forms are recorded in
	// the clear.
	AllowSecrets bool
}

// A PolicyError reports that a question may not be asked. Its text says how to
// change it.
type PolicyError struct{ Reason string }

func (e *PolicyError) Error() string { return "this question may not be asked: " + e.Reason }

// Admit returns a [*PolicyError] if the question may not be asked while that many
// others are open.
func (p Policy) Admit(q *Question, openInRun, openOfOwner int) error {
	if p.OpenPerRun > 0 && openInRun >= p.OpenPerRun {
		return &PolicyError{fmt.Sprintf("the run already has %d open questions, the most that are allowed", openInRun)}
	}
	if p.OpenPerOwner > 0 && openOfOwner >= p.OpenPerOwner {
		return &PolicyError{fmt.Sprintf("this person already has %d open questions, the most that are allowed", openOfOwner)}
	}
	if admit := q.Kind.rules().admit; admit != nil {
		return admit(q)
	}
	if p.AllowSecrets {
		return nil
	}
	return rejectSecretFields(q.Fields)
}

// TimeoutOf returns how long a question may stay open: its own timeout, or else the
// policy's. 0 means no limit.
func (p Policy) TimeoutOf(q *Question) time.Duration {
	return cmp.Or(time.Duration(q.Timeout), p.Timeout)
}
