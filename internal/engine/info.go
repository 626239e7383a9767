package engine

import (
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// State is the state of a run.
type State string

// The states of a run. In the last four, the run has ended.
const (
	Running     State = "running"
	Waiting     State = "waiting" // for an answer
	Completed   State = State(runlog.Completed)
	Failed      State = State(runlog.Failed)
	Stopped     State = State(runlog.Stopped)
	Interrupted State = State(runlog.Interrupted)
)

// Ended reports whether a run in state s has ended.
func (s State) Ended() bool { return s != Running && s != Waiting }

// Info describes a run, as lists show it. It doesn't change when the run does.
type Info struct {
	ID      string    `json:"id"`
	Photon  string    `json:"photon"`
	Title   string    `json:"title"`
	Surface string    `json:"surface"`
	Durable bool      `json:"durable"`
	State   State     `json:"state"`
	Error   string    `json:"error,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	// RetainedUntil is the earliest time at which the run may be deleted; zero for
	// a run that hasn't ended, which is never deleted.
	RetainedUntil time.Time `json:"-"`
	// StateChanged is when State changed last, and LatestStatus the latest status
	// that the photon reported, truncated to 200 bytes. They are set only for runs
	// with a promised retention; see [StartRequest.RetainFor].
	StateChanged time.Time `json:"-"`
	LatestStatus string    `json:"-"`
	// LastSeq is the ordinal of the newest entry.
	LastSeq uint64 `json:"last"`
	// Asks lists the open questions, oldest first.
	Asks []OpenAsk `json:"asks,omitempty"`
	// Owner may see, answer and stop the run.
	Owner string `json:"-"`
}

// OpenAsk is a question that waits for an answer.
type OpenAsk struct {
	ID     string    `json:"id"` // of the ask
	Run    string    `json:"run"`
	Photon string    `json:"photon"`
	Title  string    `json:"title"` // of the photon
	Since  time.Time `json:"since"`
	runlog.Asked
}
