package upstream

import (
	"encoding/json"
	"time"
)

// A State is what a connection to an upstream is doing.
type State string

// The states of an upstream.
const (
	Connecting State = "connecting" // for the first time, or again
	Connected  State = "connected"
	Waiting    State = "waiting" // to connect again, after a failure
	Stopped    State = "stopped" // for good, as after it violated the protocol
)

// A Status is what an operator sees of an upstream. All texts but Name and File are
// the upstream's, or may repeat what it said: they are bounded, free of control
// characters and secrets, and must be escaped.
type Status struct {
	Name    string `json:"name"`
	Type    string `json:"type"`    // see [config.Server]
	Address string `json:"address"` // the command, or the URL without its query
	File    string `json:"file"`    // which defines it
	Own     bool   `json:"own"`     // File is the data folder's, from which Beam can remove it

	State   State     `json:"state"`
	Since   time.Time `json:"since"`
	Error   string    `json:"error,omitempty"`    // why it isn't connected
	RetryAt time.Time `json:"retryAt,omitzero"`   // when it connects again, while it waits
	Ignored []string  `json:"ignored,omitempty"`  // fields of the file that Beam doesn't know
	Warn    []string  `json:"warnings,omitempty"` // what else the operator should know

	Version      string          `json:"protocolVersion,omitempty"`
	Info         json.RawMessage `json:"serverInfo,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
	Instructions string          `json:"instructions,omitempty"`

	Tools     []ToolStatus `json:"tools"`
	OpenAsks  int          `json:"openAsks"`
	Calls     int          `json:"calls"` // in progress
	Errors    []Event      `json:"errors"`
	Stderr    []Event      `json:"stderr,omitempty"`
	CallCount int64        `json:"callCount"` // since Beam started
}

// An Event is something that happened, or a line of stderr.
type Event struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// LatestError returns the error that an operator should see first: "" if there is
// none.
func (s *Status) LatestError() string {
	if s.Error != "" || len(s.Errors) == 0 {
		return s.Error
	}
	return s.Errors[len(s.Errors)-1].Text
}

// Count returns how many tools have a decision.
func (s *Status) Count(d Decision) (n int) {
	for i := range s.Tools {
		if s.Tools[i].Decision == d {
			n++
		}
	}
	return n
}

// A Decision is what Beam does with a tool of an upstream.
type Decision string

// The decisions.
const (
	Offered Decision = "offered" // as a photon
	Held    Decision = "held"    // back, since it changed, until an operator accepts it
	Denied  Decision = "denied"  // by the lists allow and deny
	Skipped Decision = "skipped" // since it can't be offered
)

// A ToolStatus is a tool that an upstream lists.
type ToolStatus struct {
	Name     string          `json:"name"`
	Title    string          `json:"title,omitempty"`
	Decision Decision        `json:"decision"`
	Reason   string          `json:"reason,omitempty"` // for the decision, in a sentence
	Photon   string          `json:"photon,omitempty"` // the name of the photon, if it is offered
	Added    time.Time       `json:"added,omitzero"`   // if it came after the upstream was first seen
	Change   *Change         `json:"change,omitempty"` // if it is held back
	Raw      json.RawMessage `json:"-"`                // the definition, as the upstream gave it
}

// A Change is how a tool differs from what the operator accepted.
type Change struct {
	Digest string          `json:"digest"` // of New
	Since  time.Time       `json:"since"`
	Old    json.RawMessage `json:"old"` // the parts that are pinned
	New    json.RawMessage `json:"new"`
}
