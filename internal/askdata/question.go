// Package askdata has the data of package ask: questions, their fields, and answers, as logs
// record them and surfaces show them. Authors of photons don't see it.
package askdata

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// A Question is a photon's question in a form that a log can record and any
// surface can show. It must not be changed once it is asked, because the same
// question may be asked again.
type Question struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	// Fields are the fields to fill in: one for the simple kinds, named by the
	// question's key; none for a file or a URL.
	Fields Fields `json:"fields,omitempty"`
	// File holds the rules of a file question; nil for other kinds.
	File *FileRules `json:"file,omitempty"`
	// URL is the http or https address to open in a URL question.
	URL string `json:"url,omitempty"`
	// UntilDone marks a URL question that stays open until the person reports that
	// they are done at the address. Otherwise, agreeing to open it is the answer.
	UntilDone bool `json:"untilDone,omitempty"`
	// Sample is the request to a model. Fields are for a person who answers in the
	// model's place.
	Sample *Sample `json:"sample,omitempty"`
	// Destructive marks a confirmation of something that can't be undone.
	Destructive bool `json:"destructive,omitempty"`
	// Yes and No are the labels of a confirmation's two buttons.
	Yes string `json:"yes,omitempty"`
	No  string `json:"no,omitempty"`
	// Evidence are the artifacts that the question shows, with their bodies; see
	// ask.Showing.
	Evidence []*generators.Artifact `json:"evidence,omitempty"`
	// From are the people who may answer, and no others; none means the run's owner and
	// operators. NotCaller excludes who started the run. See ask.From and ask.NotCaller.
	From      []Who `json:"from,omitempty"`
	NotCaller bool  `json:"notCaller,omitempty"`
	// Server is the MCP server that asks, by the name that Beam's configuration gives it, and
	// Tool the name under which Beam offers the tool that asks, if that is known. Only Beam
	// sets them; both are empty if the photon itself asks.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Note is what Beam itself says about a server's question. No asker's text is in it.
	Note string `json:"note,omitempty"`
	// Timeout is how long the question may stay open; 0 means no limit.
	Timeout Millis `json:"timeout,omitempty"`

	// AnsweredBy is where to store who answered; nil if the photon doesn't ask.
	AnsweredBy *generators.Caller `json:"-"`
}

// MaxAtOnce is the maximum number of questions that ask.All asks at once.
const MaxAtOnce = 100

// Of returns the question that a call asks. It reports false for a step.
func Of(c *driver.Call) (*Question, bool) {
	q, ok := c.Question.(*Question)
	return q, ok && q != nil
}

// OnPage reports whether the question can be answered only on Beam's own page.
// Secrets and files never travel through a client, and only the page lets a person
// report that they are done at an address.
func (q *Question) OnPage() bool {
	return q.UntilDone || q.Kind.rules().onPage
}

// Action is how a person responded to a question (MCP: ElicitResult.action).
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// An Answer settles a question. Content is a JSON object with a member for each
// field. Files are the stored files of a file question. Both are empty unless the
// action is Accept.
type Answer struct {
	Action  Action          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
	Files   []FileRef       `json:"files,omitempty"`
}

// ErrDeclined and ErrCancelled are those of package ask, which documents them.
var (
	ErrDeclined  = errors.New("the question was declined")
	ErrCancelled = errors.New("the question was dismissed")
)

// Validate checks a question that is about to be asked. The request of a sampling question
// is not checked.
func (q *Question) Validate() error {
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
	return a, invalidError(driver.At("action", fmt.Sprintf("must be accept, decline or cancel, not %q", a.Action)))
}

// Refusal returns why a question may not be asked, or "". Forms that ask for secrets may be
// asked only if that is allowed.
func (q *Question) Refusal(allowSecrets bool) string {
	if admit := q.Kind.rules().admit; admit != nil {
		return admit(q)
	}
	if allowSecrets {
		return ""
	}
	return q.Fields.SecretRefusal()
}

// Reply returns the reply that settles the call with this answer.
func (a Answer) Reply() driver.Reply {
	switch a.Action {
	case Accept:
		if a.Files != nil {
			raw, err := json.Marshal(a.Files)
			return driver.Reply{Value: raw, Err: err}
		}
		return driver.Reply{Value: a.Content}
	case Decline:
		return driver.Reply{Err: ErrDeclined}
	default:
		return driver.Reply{Err: ErrCancelled}
	}
}

func invalidError(errs ...generators.FieldError) error { return &generators.InvalidError{Fields: errs} }
