package timeline

import (
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

// AskState is the state of a question.
type AskState string

// The states of a question. All but Open are final.
const (
	Open      AskState = "open"
	Answered  AskState = "answered"
	Declined  AskState = "declined"  // the person refused
	Dismissed AskState = "dismissed" // the person closed it without choosing
	Expired   AskState = "expired"   // nobody answered in time
	Withdrawn AskState = "withdrawn" // it ended without an answer; see Ask.Reason
)

// An Ask is a question of the run and, once given, its answer.
type Ask struct {
	engine.OpenAsk
	State   AskState
	By      string    // the surface that answered
	Person  string    // what people call who answered, if the name is known or the run is somebody else's
	Settled time.Time // zero while the question is open
	// Reason is why the question was withdrawn, and Problem the error behind that.
	Reason  runlog.WithdrawReason
	Problem string
	// Rendered is how much of what the question shows the surface that answered rendered.
	Rendered runlog.Rendering
	// Sampling is where a question to a model stands; nil for all others.
	Sampling *sampling.State
	// ChangedBy is what people call who made the version of a request to a model that was
	// approved last, as Person.
	ChangedBy string
	asked     *askdata.Question // as it was asked, whatever version of a request is shown
	reply     *Item             // the latest call
	// Edited means that who answered had changed the reply of a model.
	Edited bool
	// Values are the answer as text. They never include a secret.
	Values []Value
}

// A Value is one part of an answer as text.
type Value struct {
	Label string
	Text  string
}

// Secret reports whether the answer must not be shown.
func (a *Ask) Secret() bool { return a.Question.Kind == askdata.KindSecret }

// applyAnswer records an answer to a question of the owner's run.
func (a *Ask) applyAnswer(d runlog.Answered, owner generators.Caller, at time.Time) {
	a.By, a.Settled, a.Rendered = d.Surface, at, d.Evidence
	if d.Caller != nil {
		a.Person = personOf(*d.Caller, owner.ID)
	}
	switch d.Answer.Action {
	case askdata.Accept:
		a.State = Answered
		a.Values = answerValues(a.Question, d.Answer)
		a.Edited = a.Question.Kind == askdata.KindSample && isEdited(d.Answer)
	case askdata.Decline:
		a.State = Declined
	default:
		a.State = Dismissed
	}
}

// personOf returns what people call a caller, if the name is known or the run is somebody
// else's.
func personOf(c generators.Caller, owner string) string {
	if c.Name == "" && c.ID == owner {
		return ""
	}
	return callers.Describe(c.ID, c.Name)
}

func (a *Ask) applyWithdrawal(d runlog.Withdrawn, at time.Time) {
	a.State, a.Settled, a.Reason, a.Problem = Withdrawn, at, d.Reason, d.Error
	if d.Reason == runlog.Expired {
		a.State = Expired
	}
}

// maxSettledEvidence is how much of what a settled question has shown is kept, in bytes.
const maxSettledEvidence = 64 << 10

// dropLargeEvidence drops the bodies of what the question has shown if they are large.
func (a *Ask) dropLargeEvidence() {
	size := 0
	for _, e := range a.Question.Evidence {
		size += len(e.Body)
	}
	if size <= maxSettledEvidence {
		return
	}
	q := *a.Question // others use the question too
	q.Evidence = make([]*generators.Artifact, len(a.Question.Evidence))
	for i, e := range a.Question.Evidence {
		c := *e
		c.Body = nil
		q.Evidence[i] = &c
	}
	a.Question = &q
}

// revise makes the question show the version of a request to a model that was approved.
func (a *Ask) revise(approved *runlog.Approval, owner generators.Caller) {
	if a.Question = a.asked; approved.Request != nil {
		a.Question = runlog.Revise(a.asked, approved.Request)
	}
	a.ChangedBy = ""
	if by := a.Sampling.ChangedBy; by != nil {
		a.ChangedBy = personOf(*by, owner.ID)
	}
}
