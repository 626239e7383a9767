// Package asking has what drivers of photons need of package ask: the policy, and the parts
// of questions that are values of that package.
package asking

import (
	"cmp"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
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

// Admit returns a [*ask.PolicyError] if the question may not be asked while that many
// others are open.
func (p Policy) Admit(q *askdata.Question, openInRun, openOfOwner int) error {
	if p.OpenPerRun > 0 && openInRun >= p.OpenPerRun {
		return &ask.PolicyError{Reason: fmt.Sprintf("the run already has %d open questions, the most that are allowed", openInRun)}
	}
	if p.OpenPerOwner > 0 && openOfOwner >= p.OpenPerOwner {
		return &ask.PolicyError{Reason: fmt.Sprintf("this person already has %d open questions, the most that are allowed", openOfOwner)}
	}
	if reason := q.Refusal(p.AllowSecrets); reason != "" {
		return &ask.PolicyError{Reason: reason}
	}
	return nil
}

// TimeoutOf returns how long a question may stay open: its own timeout, or else the
// policy's. 0 means no limit.
func (p Policy) TimeoutOf(q *askdata.Question) time.Duration {
	return cmp.Or(time.Duration(q.Timeout), p.Timeout)
}
