package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

type none struct{}

// askingPhoton returns a photon that asks one question and returns the outcome.
func askingPhoton[T any](name string, prompt *ask.Prompt[T]) *generators.Photon {
	return generators.New(name, func(_ context.Context, _ none, yield generators.Yield) (T, error) { return prompt.Ask(yield) }, nil)
}

type greeting struct {
	Name string `json:"name" minLength:"2"`
}

var helloPhoton = generators.New("hello", func(_ context.Context, in greeting, yield generators.Yield) (string, error) {
	yield(generators.Status("thinking"))
	yield(generators.Progress(1, 2, "half"))
	yield(generators.Log(generators.Info, "a line"))
	yield(generators.LogTo("inner", generators.Debug, map[string]int{"n": 1}))
	yield(generators.Progress(2, 2, ""))
	return "Hello, " + in.Name, nil
}, &generators.Options{Title: "Hello", Description: "Greets."})

// stubbornPhoton asks until it is cancelled, and reports when its deferred function has
// run.
func stubbornPhoton(done chan<- error) *generators.Photon {
	return generators.New("stubborn", func(ctx context.Context, _ none, yield generators.Yield) (_ string, err error) {
		defer func() { done <- err }()
		return ask.Text(yield, "word", "Which word?")
	}, nil)
}

var colors = []ask.Choice{{Value: "r", Title: "Red"}, {Value: "g", Title: "Green"}}

// twoQuestions asks two questions at once.
var twoQuestions = generators.New("two", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
	var name, color string
	err := ask.All(yield, ask.ForText("name", "Who?").Into(&name), ask.ForSelect("color", "Which?", colors).Into(&color))
	return strings.Join([]string{name, color}, " "), err
}, nil)

// twoQuestionsInTurn asks two questions, one after the other, and sends a status
// between them.
func twoQuestionsInTurn(effects *int) *generators.Photon {
	return generators.New("inturn", func(_ context.Context, _ none, yield generators.Yield) (string, error) {
		first, err := ask.Text(yield, "first", "First?")
		if err != nil {
			return "", err
		}
		*effects++
		yield(generators.Status("between"))
		second, err := ask.Text(yield, "second", "Second?")
		return first + " " + second, err
	}, nil)
}

func expectGeneratorError(t *testing.T, done <-chan error, want error) {
	t.Helper()
	if err := <-done; !errors.Is(err, want) {
		t.Errorf("the generator ended with %v, want %v", err, want)
	}
}
