// Package burst provides the photon burst, which sends any number of events as fast as
// they are received. It serves to measure surfaces and their limits.
package burst

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/generators"
)

// Photon yields numbered events without a pause.
var Photon = generators.New("burst", yieldEvents, &generators.Options{
	Title:       "Burst of events",
	Group:       "For testing",
	Description: "Sends up to 100,000 numbered events without a pause and returns their number. Every tenth event is progress, and the others are statuses. For testing clients.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
})

// Input is the number of events to send.
type Input struct {
	Events int `json:"events,omitempty" title:"Events" description:"The number of events, 1 to 100,000" minimum:"1" maximum:"100000" default:"10000"`
}

// Output is the number of events sent.
type Output struct {
	Events int `json:"events"`
}

func yieldEvents(ctx context.Context, in Input, yield generators.Yield) (Output, error) {
	var sent Output
	for sent.Events < in.Events {
		if !yield(nthEvent(sent.Events+1, in.Events)) {
			return sent, ctx.Err()
		}
		sent.Events++
	}
	return sent, nil
}

// nthEvent returns the nth of so many events. Each contains its number, so that readers
// can detect missing and misplaced events.
func nthEvent(n, of int) generators.Event {
	text := fmt.Sprintf("event %d", n)
	if n%10 == 0 {
		return generators.Progress(float64(n), float64(of), text)
	}
	return generators.Status(text)
}
