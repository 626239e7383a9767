// Package kitchensink ships the photon kitchen-sink, which shows everything that
// a surface has to show and asks any kind of question that there is. It never
// waits but for an answer, so that surfaces can be tested and measured with it.
package kitchensink

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon yields every kind of event, asks the question that it is told to ask,
// and returns what the person did with it.
var Photon = generators.New("kitchen-sink", runKitchenSink, &generators.Options{
	Title:       "Kitchen sink",
	Description: "Shows every kind of event and artifact, then asks one question of the kind you choose. For trying out surfaces and clients.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Forms:       []func() error{ask.Fits[Signup]},
})

// Choice is which question to ask.
type Choice struct {
	Ask string `json:"ask,omitempty" title:"Question" description:"The kind of question to ask" enum:"text,secret,confirm,select,multiselect,number,integer,date,datetime,file,form,url,all" default:"form"`
}

// Outcome is what the person did. Answer is there only if they accepted.
type Outcome struct {
	Action string `json:"action" enum:"accept,decline,cancel,timeout"`
	Answer any    `json:"answer,omitempty"`
}

func runKitchenSink(ctx context.Context, in Choice, yield generators.Yield) (Outcome, error) {
	for _, e := range allEvents() {
		if !yield(e) {
			return Outcome{}, ctx.Err()
		}
	}
	answer, err := askQuestion(yield, in.Ask)
	if err == nil {
		return Outcome{Action: "accept", Answer: answer}, nil
	}
	if action := unansweredAction(err); action != "" {
		return Outcome{Action: action}, nil
	}
	return Outcome{}, err
}

// unansweredAction names what a person, or the clock, made of a question instead of
// answering it. It is empty for every other error, and for several errors of
// which one is another. Of several it names a decline before a cancel, and both
// before a time-out.
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
