package generators_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

type noInput struct{}

// photon returns a photon without arguments.
func photon[Out any](fn func(ctx context.Context, yield generators.Yield) (Out, error)) *generators.Photon {
	return generators.New("test", func(ctx context.Context, _ noInput, yield generators.Yield) (Out, error) {
		return fn(ctx, yield)
	}, nil)
}

// newTypedPhoton returns a photon with the given input and output types.
func newTypedPhoton[In, Out any](opts *generators.Options) *generators.Photon {
	return generators.New("p", func(context.Context, In, generators.Yield) (out Out, err error) { return out, nil }, opts)
}

// drive runs a photon to its end. It settles questions with reply, unless that is
// nil.
func drive(ctx context.Context, p *generators.Photon, reply func(*driver.Call) driver.Reply) (events []generators.Event, result string, err error) {
	for e, err := range driver.Prepare(ctx, p, json.RawMessage("{}")).All {
		if err != nil {
			return events, "", err
		}
		if r, ok := e.(*generators.Result); ok {
			return events, string(r.Value), nil
		}
		if c, ok := driver.CallOf(e); ok {
			e = driver.NewEvent(c)
			if c.Kind != driver.StepKind && reply != nil {
				c.Settle(reply(c))
			}
		}
		events = append(events, e.(generators.Event))
	}
	return events, "", errors.New("the run ended without a last pair")
}

// statusTexts returns the texts of the statuses among events.
func statusTexts(events []generators.Event) []string {
	var all []string
	for _, e := range events {
		if s, ok := e.(*generators.StatusEvent); ok {
			all = append(all, s.Text)
		}
	}
	return all
}

// askText yields a question and waits for its reply.
func askText(yield generators.Yield, key string) (string, error) {
	c := driver.NewCall("text", key, nil)
	yield(driver.NewEvent(c))
	r := c.Wait()
	return string(r.Value), r.Err
}

// valueReply returns a reply with a JSON value.
func valueReply(raw string) driver.Reply { return driver.Reply{Value: json.RawMessage(raw)} }

// fieldErrors returns the messages of an InvalidError, by path.
func fieldErrors(t *testing.T, err error) map[string]string {
	t.Helper()
	var invalid *generators.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("the error is a %T (%v), not an InvalidError", err, err)
	}
	messages := make(map[string]string)
	for _, f := range invalid.Fields {
		if messages[f.Path] != "" {
			messages[f.Path] += "; "
		}
		messages[f.Path] += f.Message
	}
	return messages
}
