package generators_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
)

// A call inside a step ends the run, named with its step, when it is yielded: a replay
// would never reach it.
func TestCallsInsideStepsAreRefused(t *testing.T) {
	askInside := func(_ context.Context, yield generators.Yield) (int, error) {
		return generators.Step(yield, "deploy", func(context.Context) (int, error) {
			_, err := askText(yield, "sure")
			return 1, err
		})
	}
	tests := []struct {
		name string
		run  func(context.Context, generators.Yield) (int, error)
		want string
	}{
		{"a question", askInside, `the tool asked "sure" inside the step "deploy"`},
		{"an error that the step ignores", func(_ context.Context, yield generators.Yield) (int, error) {
			return generators.Step(yield, "deploy", func(context.Context) (int, error) {
				_, _ = askText(yield, "sure")
				return 1, nil
			})
		}, `the tool asked "sure" inside the step "deploy"`},
		{"a step", func(_ context.Context, yield generators.Yield) (int, error) {
			return generators.Step(yield, "outer", func(context.Context) (int, error) {
				return generators.Step(yield, "inner", func(context.Context) (int, error) { return 1, nil })
			})
		}, `the tool ran the step "inner" inside the step "outer"`},
		{"a sleep", func(_ context.Context, yield generators.Yield) (int, error) {
			return generators.Step(yield, "deploy", func(context.Context) (int, error) {
				return 1, generators.Sleep(yield, "a while", time.Hour)
			})
		}, `the tool began the sleep "a while" inside the step "deploy"`},
		{"retries", func(_ context.Context, yield generators.Yield) (int, error) {
			return generators.Step(yield, "deploy", func(context.Context) (int, error) {
				_, err := askText(yield, "sure")
				return 0, err
			}, generators.Retries(100, 0))
		}, `the tool asked "sure" inside the step "deploy"`},
		{"beside other goroutines", func(ctx context.Context, yield generators.Yield) (int, error) {
			generators.Go(yield, func(context.Context, generators.Yield) {})
			return askInside(ctx, yield)
		}, `the tool asked "sure" inside the step "deploy"`},
		{"a goroutine that the step starts", func(_ context.Context, yield generators.Yield) (int, error) {
			generators.Go(yield, func(context.Context, generators.Yield) {})
			return generators.Step(yield, "deploy", func(context.Context) (int, error) {
				asked := make(chan error, 1)
				generators.Go(yield, func(_ context.Context, yield generators.Yield) {
					_, err := askText(yield, "sure")
					asked <- err
				})
				return 1, <-asked
			})
		}, `the tool asked "sure" inside the step "deploy"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, _, err := drive(t.Context(), photon(tt.run), func(*driver.Call) driver.Reply { return valueReply(`"yes"`) })
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("the run ended with %v, want %s …", err, tt.want)
			}
			for _, e := range events {
				if c, ok := driver.CallOf(e); ok && c.Key != "deploy" && c.Key != "outer" {
					t.Errorf("the call %q was delivered", c.Key)
				}
			}
		})
	}
}

// With a channel, the events arrive from another goroutine than the step's.
func TestCallsInsideStepsOfChannelsAreRefused(t *testing.T) {
	p := generators.FromChan("test", func(ctx context.Context, _ noInput, events chan<- generators.Event) (int, error) {
		yield := generators.Sender(ctx, events)
		generators.Go(yield, func(context.Context, generators.Yield) {})
		return generators.Step(yield, "deploy", func(context.Context) (int, error) {
			_, err := askText(yield, "sure")
			return 1, err
		})
	}, nil)
	_, _, err := drive(t.Context(), p, func(*driver.Call) driver.Reply { return valueReply(`"yes"`) })
	if err == nil || !strings.HasPrefix(err.Error(), `the tool asked "sure" inside the step "deploy"`) {
		t.Errorf("the run ended with %v", err)
	}
}

// Goroutines may ask and run steps while another goroutine's step runs.
func TestCallsBesideStepsAreAllowed(t *testing.T) {
	_, result, err := drive(t.Context(), photon(func(_ context.Context, yield generators.Yield) (string, error) {
		began, answered := make(chan struct{}), make(chan string, 1)
		generators.Go(yield, func(_ context.Context, yield generators.Yield) {
			<-began
			text, _ := askText(yield, "name")
			other, _ := generators.Step(yield, "beside", func(context.Context) (string, error) { return "!", nil })
			answered <- text + other
		})
		return generators.Step(yield, "long", func(context.Context) (string, error) {
			close(began)
			return <-answered, nil
		})
	}), func(*driver.Call) driver.Reply { return valueReply(`Ada`) })
	if err != nil || result != `"Ada!"` {
		t.Errorf("got %s, %v", result, err)
	}
}
