package upstream

import (
	"encoding/json"
	"time"

	"github.com/photon-beam/beam/internal/upstream/policy"
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

	Tools     []policy.ToolStatus `json:"tools"`
	OpenAsks  int                 `json:"openAsks"`
	Calls     int                 `json:"calls"` // in progress
	Errors    []Event             `json:"errors"`
	Stderr    []Event             `json:"stderr,omitempty"`
	CallCount int64               `json:"callCount"` // since Beam started
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
func (s *Status) Count(d policy.Decision) (n int) {
	for i := range s.Tools {
		if s.Tools[i].Decision == d {
			n++
		}
	}
	return n
}
