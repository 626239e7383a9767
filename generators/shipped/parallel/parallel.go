// Package parallel provides the photon parallel, which asks three questions at once
// while a progress bar runs.
package parallel

import (
	"context"
	"strings"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// Photon asks three questions at once.
var Photon = generators.New("parallel", askAll, &generators.Options{
	Title:       "Three questions at once",
	Group:       "For testing",
	Description: "Asks the user for a name, a color and a number, all at once, while a progress bar runs, and returns the answers. For testing clients.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
	Asks:        true,
})

// Answers are the answers to the three questions.
type Answers struct {
	Name   string `json:"name"`
	Color  string `json:"color" enum:"red,green,blue"`
	Number int    `json:"number" minimum:"1" maximum:"10"`
}

func askAll(ctx context.Context, _ struct{}, yield generators.Yield) (Answers, error) {
	var a Answers
	finish, ok := startBar(yield)
	if !ok {
		return a, ctx.Err()
	}
	err := ask.All(yield,
		ask.ForText("name", "What is your name?", ask.Title("Name"), ask.Length(1, 80)).Into(&a.Name),
		ask.ForSelect("color", "Which color do you like best?", colorChoices(), ask.Title("Color")).Into(&a.Color),
		ask.ForInteger("number", "Which number from 1 to 10 do you choose?", ask.Title("Number"), ask.Range(1, 10)).Into(&a.Number))
	finish()
	if err != nil {
		return Answers{}, unansweredError{err}
	}
	return a, nil
}

func colorChoices() []ask.Choice {
	return []ask.Choice{{Value: "red", Title: "Red"}, {Value: "green", Title: "Green"}, {Value: "blue", Title: "Blue"}}
}

// unansweredError formats the error of [ask.All] in one line.
type unansweredError struct{ error }

func (e unansweredError) Error() string {
	return "not every question was answered: " + strings.ReplaceAll(e.error.Error(), "\n", "; ")
}

func (e unansweredError) Unwrap() error { return e.error }
