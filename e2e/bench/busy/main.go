// Command busy serves a photon whose run stays busy while it waits for an answer: page.js measures how
// soon its page reacts.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
)

// input says how many events come before the question, and how many a second while it waits.
type input struct {
	Before    int `json:"before" minimum:"0" maximum:"100000"`
	PerSecond int `json:"perSecond" minimum:"1" maximum:"10000"`
}

func busy(ctx context.Context, in input, yield generators.Yield) (string, error) {
	for n := range in.Before {
		if !yield(nthEvent(n)) {
			return "", ctx.Err()
		}
	}
	generators.Go(yield, func(ctx context.Context, yield generators.Yield) { sendMore(ctx, in, yield) })
	return ask.Text(yield, "note", "What do you think of it?", ask.Title("Note"), ask.Long())
}

// sendMore sends events until ctx is done, as many as are due every 10 ms.
func sendMore(ctx context.Context, in input, yield generators.Yield) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	sent, begun := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(begun).Seconds() * float64(in.PerSecond)); sent < due; sent++ {
			if !yield(nthEvent(in.Before + sent)) {
				return
			}
		}
	}
}

// nthEvent returns a status or, one time in three, a line of the log.
func nthEvent(n int) generators.Event {
	if n%3 == 0 {
		return generators.Log(generators.Debug, fmt.Sprintf("event %d", n))
	}
	return generators.Status(fmt.Sprintf("event %d", n))
}

func main() { beam.Main(generators.New("busy", busy, nil)) }
