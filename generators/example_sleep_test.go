package generators_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// A durable run sleeps for as long as it takes, whatever happens to the process in the
// meantime. In tests, sleeps take no time.
func ExampleSleep() {
	remind := generators.New("remind", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		for range 3 {
			done, err := ask.Confirm(yield, "watered", "Have you watered the plants?")
			if err != nil || done {
				return "thank you", err
			}
			if err := generators.Sleep(yield, "an hour", time.Hour); err != nil {
				return "", err
			}
		}
		return "they are dry now", nil
	}, &generators.Options{Durable: true})

	got := beamtest.Run(exampleTest{}, remind, nil, beamtest.Script{
		"watered": beamtest.Accept(false), "watered#2": beamtest.Accept(true),
	})
	fmt.Println(string(got.Result))
	// Output:
	// "thank you"
}

// Deployments to one environment don't overlap: the second waits until the first has
// ended, whoever started it.
func ExampleOptions_exclusive() {
	type target struct {
		Env string `json:"env"`
	}
	deploy := generators.New("deploy", func(_ context.Context, in target, yield generators.Yield) (string, error) {
		return "deployed to " + in.Env, nil
	}, &generators.Options{Exclusive: func(in target) string { return in.Env }})
	fmt.Println(string(beamtest.Run(exampleTest{}, deploy, target{"prod"}, nil).Result))
	// Output:
	// "deployed to prod"
}

// A photon that runs without Beam sleeps, too.
func ExampleSleep_run() {
	nap := generators.New("nap", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		return "rested", generators.Sleep(yield, "nap", 10*time.Millisecond)
	}, nil)
	for event := range nap.Run(context.Background(), json.RawMessage(`{}`)) {
		if r, ok := event.(*generators.Result); ok {
			fmt.Println(string(r.Value))
		}
	}
	// Output:
	// "rested"
}

// SleepUntil wakes at a time that must be read in a step: it depends on the clock.
func ExampleSleepUntil() {
	report := generators.New("report", func(_ context.Context, _ struct{}, yield generators.Yield) (string, error) {
		morning, err := generators.Step(yield, "when", func(context.Context) (time.Time, error) {
			return time.Now().Truncate(24 * time.Hour).Add(31 * time.Hour), nil // 7 o'clock tomorrow
		})
		if err != nil {
			return "", err
		}
		return "good morning", generators.SleepUntil(yield, "night", morning)
	}, &generators.Options{Durable: true})
	fmt.Println(string(beamtest.Run(exampleTest{}, report, nil, nil).Result))
	// Output:
	// "good morning"
}
