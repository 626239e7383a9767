// Command photons is the program that the interoperation tests call through real
// clients. It has a photon for each kind of question, and for each way in which a call
// can end.
package main

import (
	"context"
	"errors"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

func main() { beam.Main(append(askingPhotons(), workingPhotons()...)...) }

type none struct{}

// outcome is the outcome of a question.
type outcome struct {
	Outcome string `json:"outcome" enum:"accepted,declined,cancelled,timeout"`
	Value   any    `json:"value,omitempty"`
}

// outcomeOf returns the outcome of a question. If the user gave no answer, the photon
// fails with Beam's own error.
func outcomeOf(value any, err error) (outcome, error) {
	switch {
	case err == nil:
		return outcome{"accepted", value}, nil
	case errors.Is(err, ask.ErrDeclined):
		return outcome{Outcome: "declined"}, nil
	case errors.Is(err, ask.ErrCancelled):
		return outcome{Outcome: "cancelled"}, nil
	case errors.Is(err, ask.ErrTimeout):
		return outcome{Outcome: "timeout"}, nil
	}
	return outcome{}, err
}

// newPhoton returns a photon without options.
func newPhoton[In, Out any](name string, fn generators.Func[In, Out]) *generators.Photon {
	return generators.New(name, fn, &generators.Options{Description: "Interoperation: " + name + "."})
}

// newAskingPhoton returns a photon that asks one question.
func newAskingPhoton[T any](name string, p *ask.Prompt[T]) *generators.Photon {
	return generators.New(name, func(_ context.Context, _ none, yield generators.Yield) (outcome, error) {
		v, err := p.Ask(yield)
		return outcomeOf(v, err)
	}, &generators.Options{Description: "Interoperation: " + name + ".", Asks: true})
}
