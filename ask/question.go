// Package ask puts questions to people. A photon asks with one typed function
// per kind (Text, Confirm, Select, Form and so on); who answers, and where, it
// does not know. A surface shows the [Question], decodes and validates the
// [Answer], and the photon goes on.
//
// An answer is accepted with content, declined (the person says no) or
// cancelled (nobody chose). Decline, cancel, time-out, "nobody can be asked",
// stop and suspension are distinct errors; none becomes a default.
package ask

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
)

// A Question is what a photon wants to know, in a form that can be recorded
// and shown on any surface. It must not be changed once it is asked: the same
// one may be asked again.
type Question struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	// Fields holds the fields to fill in: one for the simple kinds, named by the
	// ask's key; none for a file or a URL.
	Fields Fields `json:"fields,omitempty"`
	// File holds the rules of a file question.
	File *FileRules `json:"file,omitempty"`
	// URL is the http or https address that a URL question wants opened.
	URL string `json:"url,omitempty"`
	// UntilDone marks a URL question that is answered when the person says that
	// what the address is for is done; without it, when they agree to open it.
	UntilDone bool `json:"untilDone,omitempty"`
	// Sample is what a model is asked. Fields is for a person who answers in its
	// place.
	Sample *SampleRequest `json:"sample,omitempty"`
	// Destructive marks a confirmation whose yes destroys something.
	Destructive bool `json:"destructive,omitempty"`
	// Yes and No are the verbs of a confirmation's two buttons.
	Yes string `json:"yes,omitempty"`
	No  string `json:"no,omitempty"`
	// Timeout is how long the question may stay open; 0 is for ever.
	Timeout Millis `json:"timeout,omitempty"`
}

// Of returns the question of a call, if it has one.
func Of(c *generators.Call) (*Question, bool) {
	q, ok := c.Question.(*Question)
	return q, ok && q != nil
}

// OnPage reports whether the question can be answered only on Beam's own page.
// Secrets and files never travel through a client, and only the page lets a person
// report that they are done at an address.
func (q *Question) OnPage() bool {
	return q.UntilDone || q.Kind.rules().onPage
}

// Action is what a person did with a question (MCP: ElicitResult.action).
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// An Answer settles a question. Content is a JSON object with a property a
// field; Files are what was handed in for a file question, already stored.
// Both are empty unless the action is Accept.
type Answer struct {
	Action  Action          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
	Files   []FileRef       `json:"files,omitempty"`
}

// Why an ask returned no answer.
var (
	// ErrDeclined: the person said no.
	ErrDeclined = errors.New("the question was declined")
	// ErrCancelled: the person put the question away without choosing.
	ErrCancelled = errors.New("the question was cancelled")
	// ErrTimeout: the question's own time ran out.
	ErrTimeout = errors.New("the question was not answered in time")
	// ErrUnsupported: there is nobody who can be asked.
	ErrUnsupported = errors.New("nobody can be asked here")
	// ErrInvalid: what was answered did not fit, and was asked too often.
	ErrInvalid = errors.New("the answers did not fit the question")
	// ErrStopped and ErrSuspended: the run ended before the answer came.
	ErrStopped   = generators.ErrStopped
	ErrSuspended = generators.ErrSuspended
)

// validate checks a question that is about to be asked.
func (q *Question) validate() error {
	if validate := q.Kind.rules().validate; validate != nil {
		return validate(q)
	}
	return q.Fields.Validate()
}

// Check validates an answer. A decline or a cancel has no content; accepted
// content must satisfy every rule of the question. Check returns the answer in
// the form to be recorded. The error is a [*generators.InvalidError] with a
// message for each field.
func (q *Question) Check(a Answer) (Answer, error) {
	switch a.Action {
	case Decline, Cancel:
		return Answer{Action: a.Action}, nil
	case Accept:
		if check := q.Kind.rules().check; check != nil {
			return check(q, a)
		}
		return checkFieldsAnswer(q, a)
	}
	return a, invalidError("action", fmt.Sprintf("must be accept, decline or cancel, not %q", a.Action))
}

// Reply is what the waiting generator gets for an answer.
func (a Answer) Reply() generators.Reply {
	switch a.Action {
	case Accept:
		if a.Files != nil {
			raw, err := json.Marshal(a.Files)
			return generators.Reply{Value: raw, Err: err}
		}
		return generators.Reply{Value: a.Content}
	case Decline:
		return generators.Reply{Err: ErrDeclined}
	default:
		return generators.Reply{Err: ErrCancelled}
	}
}

func invalidError(field, message string) error {
	return &generators.InvalidError{Fields: []generators.FieldError{generators.At(field, message)}}
}
