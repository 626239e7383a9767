// Package countdown ships the photon countdown, which works for a known time,
// tells how far it is, and does nothing else.
package countdown

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
)

// Photon counts down. It isn't durable: a countdown that was cut off is over.
var Photon = generators.New("countdown", countDown, &generators.Options{
	Title:       "Countdown",
	Description: "Counts down the seconds, telling its progress ten times a second, and can be stopped at any moment. For trying out surfaces and clients.",
	ReadOnly:    true,
	Idempotent:  true,
})

// tick is the time from one progress event to the next.
const tick = time.Second / 10

// Input is what to count down from.
type Input struct {
	Seconds int `json:"seconds,omitempty" title:"Seconds" description:"How long it takes, from 1 second to an hour" minimum:"1" maximum:"3600" default:"10"`
}

func countDown(ctx context.Context, in Input, yield generators.Yield) (string, error) {
	began, total := time.Now(), time.Duration(in.Seconds)*time.Second
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	yield(progressEvent(0, total))
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-ticks.C:
		}
		// The clock says how far it is, not the ticks: those that nobody took in
		// time are left out, and it lasts no longer for it.
		gone := min(time.Since(began).Truncate(tick), total)
		yield(progressEvent(gone, total))
		if gone == total {
			return "lift-off", nil
		}
	}
}

// progressEvent is told in seconds.
func progressEvent(gone, total time.Duration) generators.Event {
	left := (total - gone + time.Second - 1) / time.Second // begun seconds count
	return generators.Progress(gone.Seconds(), total.Seconds(), fmt.Sprintf("%d s left", left))
}
