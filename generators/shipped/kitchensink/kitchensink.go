// Package kitchensink provides the photon kitchen_sink, which yields every kind of event
// and asks any kind of question. It waits only for answers, so that it can serve to test
// and measure surfaces.
package kitchensink

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon yields every kind of event, asks the chosen question, and returns the outcome.
var Photon = generators.New("kitchen_sink", runKitchenSink, &generators.Options{
	Title:       "Kitchen sink",
	Group:       "For testing",
	Description: "Sends every kind of event and artifact, then asks the user one question of the given kind and returns the answer. For testing clients.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Forms:       []func() error{ask.Fits[Signup]},
	Asks:        true,
})

// Echo is input with every kind of part that a form has.
type Echo struct {
	Text   string            `json:"text,omitempty" title:"Text" maxLength:"200"`
	Words  []string          `json:"words,omitempty" title:"Words"`
	Points []Point           `json:"points,omitempty" title:"Points" maxItems:"10"`
	Labels map[string]string `json:"labels,omitempty" title:"Labels"`
}

// Point is a place with a name.
type Point struct {
	Name string  `json:"name" title:"Name" minLength:"1"`
	X    float64 `json:"x,omitempty" title:"X" minimum:"0" maximum:"100"`
	Y    float64 `json:"y,omitempty" title:"Y" minimum:"0" maximum:"100"`
}

// Outcome is the person's response. Answer is set only if they accepted.
type Outcome struct {
	Action string `json:"action" enum:"accept,decline,cancel,timeout"`
	Answer any    `json:"answer,omitempty"`
	Echo   *Echo  `json:"echo,omitempty"`
}

func runKitchenSink(ctx context.Context, in Choice, yield generators.Yield) (Outcome, error) {
	for _, e := range Events() {
		if !yield(e) {
			return Outcome{}, ctx.Err()
		}
	}
	answer, err := askQuestion(yield, in.Ask)
	if err == nil {
		return Outcome{"accept", answer, in.Echo}, nil
	}
	if action := unansweredAction(err); action != "" {
		return Outcome{Action: action, Echo: in.Echo}, nil
	}
	return Outcome{}, err
}

// unansweredAction returns "decline", "cancel" or "timeout" for the error of an
// unanswered question, and the empty string for any other error. If err joins several
// errors, any other error comes first, then a decline, a cancel and a timeout.
func unansweredAction(err error) string {
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	seen := map[string]bool{}
	for _, err := range errs {
		seen[actionFor(err)] = true
	}
	for _, a := range []string{"", "decline", "cancel", "timeout"} {
		if seen[a] {
			return a
		}
	}
	return ""
}

func actionFor(err error) string {
	switch {
	case errors.Is(err, ask.ErrDeclined):
		return "decline"
	case errors.Is(err, ask.ErrCancelled):
		return "cancel"
	case errors.Is(err, ask.ErrTimeout):
		return "timeout"
	}
	return ""
}
