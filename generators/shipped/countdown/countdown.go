// Package countdown provides the photon countdown, which works for a given time and
// reports its progress.
package countdown

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
)

// Photon counts down. It isn't durable: an interrupted countdown is over.
var Photon = generators.New("countdown", countDown, &generators.Options{
	Title:       "Countdown",
	Group:       "For testing",
	Description: "Takes the given number of seconds, reports its progress ten times a second, and can be stopped at any time. For testing clients.",
	ReadOnly:    true,
	Idempotent:  true,
})

// tick is the time from one progress event to the next.
const tick = time.Second / 10

// Input is the time to count down.
type Input struct {
	Seconds int `json:"seconds,omitempty" title:"Seconds" description:"How long it takes, from 1 second to an hour" minimum:"1" maximum:"3600" default:"10"`
}

func countDown(ctx context.Context, in Input, yield generators.Yield) (string, error) {
	start, total := time.Now(), time.Duration(in.Seconds)*time.Second
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	yield(progressEvent(0, total))
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-ticks.C:
		}
		// Measure the time instead of counting ticks: the ticker drops ticks that
		// aren't received in time, and the countdown must not take longer for it.
		gone := min(time.Since(start).Truncate(tick), total)
		yield(progressEvent(gone, total))
		if gone == total {
			return "lift-off", nil
		}
	}
}

// progressEvent returns the progress in seconds.
func progressEvent(gone, total time.Duration) generators.Event {
	left := (total - gone + time.Second - 1) / time.Second // rounded up
	return generators.Progress(gone.Seconds(), total.Seconds(), fmt.Sprintf("%d s left", left))
}
