// Package burst ships the photon burst: as many events as one wishes, as fast as
// they are taken. Surfaces and their limits are measured with it.
package burst

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/generators"
)

// Photon yields numbered events without a pause.
var Photon = generators.New("burst", yieldEvents, &generators.Options{
	Title:       "Burst of events",
	Description: "Tells up to 100,000 numbered events at once, every tenth of them a progress and the others statuses, and returns how many there were. For trying out surfaces and clients.",
	ReadOnly:    true,
	Idempotent:  true,
	Durable:     true,
})

// Input is how many events to tell.
type Input struct {
	Events int `json:"events,omitempty" title:"Events" description:"How many, from 1 to 100,000" minimum:"1" maximum:"100000" default:"10000"`
}

// Output is how many events were told.
type Output struct {
	Events int `json:"events"`
}

func yieldEvents(ctx context.Context, in Input, yield generators.Yield) (Output, error) {
	var told Output
	for told.Events < in.Events {
		if !yield(nthEvent(told.Events+1, in.Events)) {
			return told, ctx.Err()
		}
		told.Events++
	}
	return told, nil
}

// nthEvent is the nth of so many events. All bear their number, so that whoever
// reads them can tell whether one is missing or out of place.
func nthEvent(n, of int) generators.Event {
	text := fmt.Sprintf("event %d", n)
	if n%10 == 0 {
		return generators.Progress(float64(n), float64(of), text)
	}
	return generators.Status(text)
}
