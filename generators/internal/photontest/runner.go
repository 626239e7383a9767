// Package photontest plays photons with a script in the place of a person, and
// keeps what they ask and take in golden files. It is for the tests of the
// photons that Beam ships.
package photontest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// A Script says what the person does with each question, by its key.
type Script map[string]Response

// A Response is an answer, or the error that the ask ends with.
type Response struct {
	Answer ask.Answer
	Err    error
}

// Accept is the answer with the given content, a JSON object.
func Accept(content string) Response {
	return Response{Answer: ask.Answer{Action: ask.Accept, Content: json.RawMessage(content)}}
}

// HandIn hands in a file.
func HandIn(f ask.FileRef) Response {
	return Response{Answer: ask.Answer{Action: ask.Accept, Files: []ask.FileRef{f}}}
}

// Decline says no to the question.
func Decline() Response { return Response{Answer: ask.Answer{Action: ask.Decline}} }

// Cancel puts the question away.
func Cancel() Response { return Response{Answer: ask.Answer{Action: ask.Cancel}} }

// Fail ends the ask with an error.
func Fail(err error) Response { return Response{Err: err} }

// A Runner is where a photon is played.
type Runner struct {
	Script Script
	// Open opens the files of the script by their digest.
	Open func(digest string) (io.ReadCloser, error)
	// OnEvent gets every event as it comes; it may be nil.
	OnEvent func(generators.Event)
}

// An Outcome is what came of a run.
type Outcome struct {
	Result json.RawMessage
	Err    error
	Events []generators.Event
	// Asked are the questions by key. Those of [ask.All] come in any order.
	Asked map[string]*ask.Question
}

// Run plays the photon to its end. An ask that the script doesn't know fails
// the test, and so do arguments that the photon doesn't take.
func (s Runner) Run(t testing.TB, p *generators.Photon, args string) *Outcome {
	t.Helper()
	if _, err := p.Check(json.RawMessage(args)); err != nil {
		t.Fatalf("the arguments %s: %v", args, err)
	}
	play := &Outcome{Asked: map[string]*ask.Question{}}
	var mu sync.Mutex
	driver := ask.Driver{
		Open: s.Open,
		Events: func(e generators.Event) {
			play.Events = append(play.Events, e)
			if s.OnEvent != nil {
				s.OnEvent(e)
			}
		},
		Provider: ask.ProviderFunc(func(_ context.Context, key string, q *ask.Question) (ask.Answer, error) {
			mu.Lock()
			play.Asked[key] = q
			mu.Unlock()
			line, ok := s.Script[key]
			if !ok {
				t.Errorf("the script has no line for the question %q (%s)", key, q.Message)
				return ask.Answer{}, fmt.Errorf("no line for %q", key)
			}
			return line.Answer, line.Err
		}),
	}
	play.Result, play.Err = driver.Run(t.Context(), p, json.RawMessage(args))
	return play
}

// Statuses are the texts of the statuses that were shown, in order.
func (p *Outcome) Statuses() []string {
	var texts []string
	for _, e := range p.Events {
		if s, ok := e.(*generators.StatusEvent); ok {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Decode reads the result into T. A run without one fails the test.
func Decode[T any](t testing.TB, p *Outcome) T {
	t.Helper()
	var v T
	if p.Err != nil {
		t.Fatalf("the run failed: %v", p.Err)
	}
	if err := json.Unmarshal(p.Result, &v); err != nil {
		t.Fatalf("the result %s: %v", p.Result, err)
	}
	return v
}
