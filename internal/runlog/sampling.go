package runlog

import (
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Sampling records what Beam does with an open question to a model. A person approves
// it, which begins a call of a configured model; the reply arrives in parts; the call
// ends. A question may have several calls, one after the other. An Answered entry
// settles the question, as it does any other. Exactly one of the fields after Call is
// set.
type Sampling struct {
	AskSeq uint64 `json:"ask"`  // the ordinal of the Asked entry
	Call   int    `json:"call"` // which of the question's calls; the first is 1

	Approved *Approval      `json:"approved,omitempty"` // begins the call
	Text     string         `json:"text,omitempty"`     // the next part of the reply
	Notice   string         `json:"notice,omitempty"`   // why the request had to be sent again
	Ended    *EndOfSampling `json:"ended,omitempty"`
}

// An Approval says what is sent to which model, and who agreed to it.
type Approval struct {
	Model    string `json:"model"`    // the name that the model has in Beam
	ID       string `json:"id"`       // its name at the endpoint
	Endpoint string `json:"endpoint"` // the base URL
	// Request is what was approved; nil if it is the question's.
	Request *ask.SampleRequest `json:"request,omitempty"`
	Digest  string             `json:"digest"`           // SHA-256 of the bytes that are sent
	Review  bool               `json:"review,omitempty"` // a person reads the reply before it is returned
	// Standing says which earlier approval this is by; empty if a person approved this
	// very request.
	Standing string `json:"standing,omitempty"`
	// Repeats is the call that a restart of Beam cut, and whose request is sent again; 0
	// if there is none.
	Repeats int                `json:"repeats,omitempty"`
	By      *generators.Caller `json:"by,omitempty"`
	Surface string             `json:"surface"`
	// Worker is the process that calls the model, if others share the log.
	Worker string `json:"worker,omitempty"`
}

// EndOfSampling ends a call.
type EndOfSampling struct {
	Result  *ask.SampleResult `json:"result,omitempty"`  // nil if there is none
	Error   string            `json:"error,omitempty"`   // why, in a sentence
	Stopped bool              `json:"stopped,omitempty"` // because a person stopped the call

	InputTokens  int  `json:"in,omitempty"`
	OutputTokens int  `json:"out,omitempty"`
	Estimated    bool `json:"estimated,omitempty"` // the numbers are Beam's estimates
}
