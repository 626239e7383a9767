// Package ask asks questions. A photon calls one typed function per kind of
// question (Text, Confirm, Select, Form and so on) and doesn't know who answers or
// where. A surface shows the question and validates the answer, and the function
// returns the answer to the photon.
//
// A person accepts a question with content, declines it (says no), or cancels it
// (dismisses it without choosing). Decline, cancel, timeout, "nobody can be
// asked", stop and suspension are distinct errors; none becomes a default.
package ask

import (
	"errors"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/call"
)

// The reasons why a question has no answer.
var (
	// ErrDeclined: the person said no.
	ErrDeclined = askdata.ErrDeclined
	// ErrCancelled: the person dismissed the question without choosing.
	ErrCancelled = askdata.ErrCancelled
	// ErrTimeout: the question's timeout elapsed.
	ErrTimeout = errors.New("the question was not answered in time")
	// ErrUnsupported: nobody can be asked.
	ErrUnsupported = call.ErrUnsupported
	// ErrInvalid: the answers didn't fit the question, and it was asked too often.
	ErrInvalid = errors.New("the answers did not fit the question")
	// ErrStopped and ErrSuspended: the run ended before the answer came.
	ErrStopped   = generators.ErrStopped
	ErrSuspended = generators.ErrSuspended
)

func init() {
	askdata.NewSampleRequest = func() any { return new(SampleRequest) }
	askdata.NewFormPrompt = func(key, message string, fields askdata.Fields, options any) any {
		return forFields(key, message, fields, options.([]Option))
	}
}

// A PolicyError reports that a question may not be asked. Its text says how to
// change it.
type PolicyError struct{ Reason string }

func (e *PolicyError) Error() string { return "this question may not be asked: " + e.Reason }

// A Choice is one of several values. If the title is empty, surfaces show the
// value.
type Choice struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

// Choices returns choices without titles.
func Choices(values ...string) []Choice {
	choices := make([]Choice, len(values))
	for i, v := range values {
		choices[i] = Choice{Value: v}
	}
	return choices
}

// choiceData returns choices as a question has them.
func choiceData(choices []Choice) []askdata.Choice {
	data := slices.Grow([]askdata.Choice(nil), len(choices))
	for _, c := range choices {
		data = append(data, askdata.Choice(c))
	}
	return data
}
