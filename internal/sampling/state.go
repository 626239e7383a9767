package sampling

import (
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Phase is where an open question to a model stands.
type Phase string

// The phases. In all but Replying, a person may approve the request (again), answer in
// the model's place, or deny it.
const (
	Waiting  Phase = "waiting"  // nobody has approved it
	Replying Phase = "replying" // the model has been called
	Replied  Phase = "replied"  // the reply is to be read by a person before it is returned
	Failed   Phase = "failed"   // the call ended without a reply
	Stopped  Phase = "stopped"  // a person stopped the call
)

// A State is what the log says about a question to a model, up to an entry.
type State struct {
	Call     int // the number of the latest call; 0 if there was none
	Phase    Phase
	Approval runlog.Approval // of the latest call
	Began    time.Time
	Notices  []string
	End      *runlog.EndOfSampling // of the latest call; nil while it is in progress
	// ChangedBy is who made the version of the request that the latest call sends; nil if
	// that is as it was asked.
	ChangedBy *generators.Caller

	text strings.Builder
}

// NewState returns the state of a question that was just asked.
func NewState() *State { return &State{Phase: Waiting} }

// Text returns what has arrived of the latest reply.
func (s *State) Text() string { return s.text.String() }

// Apply applies an entry about the question, and returns the text that it appends if
// that is all that it changes.
func (s *State) Apply(at time.Time, d runlog.Sampling) (appended string) {
	switch {
	case d.Approved != nil:
		changedBy := d.Approved.By
		if before := s.Approval.Request; d.Approved.Request == nil {
			changedBy = nil
		} else if before != nil && isSame(before, d.Approved.Request) {
			changedBy = s.ChangedBy
		}
		*s = State{Call: d.Call, Phase: Replying, Approval: *d.Approved, Began: at, ChangedBy: changedBy}
	case d.Ended != nil:
		s.End, s.Phase = d.Ended, phaseAfter(d.Ended)
	case d.Notice != "":
		s.Notices = append(s.Notices, d.Notice)
	default:
		s.text.WriteString(d.Text)
		return d.Text
	}
	return ""
}

func phaseAfter(end *runlog.EndOfSampling) Phase {
	switch {
	case end.Result != nil:
		return Replied
	case end.Stopped:
		return Stopped
	}
	return Failed
}
