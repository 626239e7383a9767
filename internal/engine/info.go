package engine

import (
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// State is where a run is in its life.
type State string

// The states of a run. The last four are ends.
const (
	Running     State = "running"
	Waiting     State = "waiting" // for an answer
	Completed   State = State(runlog.Completed)
	Failed      State = State(runlog.Failed)
	Stopped     State = State(runlog.Stopped)
	Interrupted State = State(runlog.Interrupted)
)

// Ended tells whether a run in this state is over.
func (s State) Ended() bool { return s != Running && s != Waiting }

// Info is what lists show of a run. It is a copy and may be kept.
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
	// RetainedUntil is the earliest that a run which has ended may be deleted; zero
	// while it goes on, when nothing deletes it.
	RetainedUntil time.Time `json:"-"`
	// StateChanged is when State changed last, and Said the latest status that the
	// photon told, of at most maxSaid bytes. They are known of a run that is
	// promised to be kept; see [StartRequest.RetainFor].
	StateChanged time.Time `json:"-"`
	LatestStatus string    `json:"-"`
	// LastSeq is the ordinal of the newest entry.
	LastSeq uint64 `json:"last"`
	// Asks are the open questions, oldest first.
	Asks []OpenAsk `json:"asks,omitempty"`
	// Owner is who may see, answer and stop the run.
	Owner string `json:"-"`
}

// OpenAsk is a question that waits for its answer.
type OpenAsk struct {
	ID     string    `json:"id"` // of the ask
	Run    string    `json:"run"`
	Photon string    `json:"photon"`
	Title  string    `json:"title"` // of the photon
	Since  time.Time `json:"since"`
	runlog.Asked
}
