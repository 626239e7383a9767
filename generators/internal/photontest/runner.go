// Package photontest runs photons with scripted answers, and compares their schemas
// with golden files. It is for the tests of the photons that Beam ships.
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

// A Script has the response to each question, by its key.
type Script map[string]Response

// A Response is an answer, or the error that the question ends with.
type Response struct {
	Answer ask.Answer
	Err    error
}

// Accept returns an answer with content, a JSON object.
func Accept(content string) Response {
	return Response{Answer: ask.Answer{Action: ask.Accept, Content: json.RawMessage(content)}}
}

// Upload returns an answer with a file.
func Upload(f ask.FileRef) Response {
	return Response{Answer: ask.Answer{Action: ask.Accept, Files: []ask.FileRef{f}}}
}

// Decline returns an answer that declines.
func Decline() Response { return Response{Answer: ask.Answer{Action: ask.Decline}} }

// Cancel returns an answer that dismisses the question.
func Cancel() Response { return Response{Answer: ask.Answer{Action: ask.Cancel}} }

// Fail returns a response that ends the question with an error.
func Fail(err error) Response { return Response{Err: err} }

// A Runner runs photons.
type Runner struct {
	Script Script
	// Open opens the files of the script by digest.
	Open func(digest string) (io.ReadCloser, error)
	// OnEvent is called with each event; it may be nil.
	OnEvent func(generators.Event)
}

// An Outcome is the outcome of a run.
type Outcome struct {
	Result json.RawMessage
	Err    error
	Events []generators.Event
	// Asked has the questions that were asked, by key.
	Asked map[string]*ask.Question
}

// Run runs a photon to its end. The test fails if the arguments are invalid, or if
// the photon asks a question that isn't in the script.
func (r Runner) Run(t testing.TB, p *generators.Photon, args string) *Outcome {
	t.Helper()
	if _, err := p.Check(json.RawMessage(args)); err != nil {
		t.Fatalf("the arguments %s: %v", args, err)
	}
	run := &Outcome{Asked: map[string]*ask.Question{}}
	var mu sync.Mutex
	driver := ask.Driver{
		Open: r.Open,
		Events: func(e generators.Event) {
			run.Events = append(run.Events, e)
			if r.OnEvent != nil {
				r.OnEvent(e)
			}
		},
		Provider: ask.ProviderFunc(func(_ context.Context, key string, q *ask.Question) (ask.Answer, error) {
			mu.Lock()
			run.Asked[key] = q
			mu.Unlock()
			response, ok := r.Script[key]
			if !ok {
				t.Errorf("the script has no response to the question %q (%s)", key, q.Message)
				return ask.Answer{}, fmt.Errorf("no response to %q", key)
			}
			return response.Answer, response.Err
		}),
	}
	run.Result, run.Err = driver.Run(t.Context(), p, json.RawMessage(args))
	return run
}

// Statuses returns the texts of the run's statuses, in order.
func (o *Outcome) Statuses() []string {
	var texts []string
	for _, e := range o.Events {
		if s, ok := e.(*generators.StatusEvent); ok {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Decode returns the result of a run. The test fails if there is none.
func Decode[T any](t testing.TB, o *Outcome) T {
	t.Helper()
	var v T
	if o.Err != nil {
		t.Fatalf("the run failed: %v", o.Err)
	}
	if err := json.Unmarshal(o.Result, &v); err != nil {
		t.Fatalf("the result %s: %v", o.Result, err)
	}
	return v
}
