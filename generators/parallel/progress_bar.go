package parallel

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
)

// The bar shows for how long the questions have been open. When it is full it
// stands still: they may be open for days, and what is told is recorded.
const (
	barDuration = time.Minute
	barInterval = time.Second / 4
)

// startBar sets a progress bar going; ok is false if the run has stopped. It
// ends when finish is called, which returns when it has.
func startBar(yield generators.Yield) (finish func(), ok bool) {
	// What comes before and after the questions is told by the generator itself,
	// so that it has the same place among them in every run.
	if !yield(generators.Progress(0, barDuration.Seconds(), "three questions are open")) {
		return nil, false
	}
	settled, ended := make(chan struct{}), make(chan struct{})
	if !generators.Go(yield, func(ctx context.Context) {
		defer close(ended)
		runBar(ctx, yield, settled)
	}) {
		return nil, false
	}
	return func() {
		close(settled)
		<-ended
		yield(generators.Progress(barDuration.Seconds(), barDuration.Seconds(), "the questions are settled"))
	}, true
}

// runBar moves the bar until the questions are settled or the run ends.
func runBar(ctx context.Context, yield generators.Yield, settled <-chan struct{}) {
	ticks := time.NewTicker(barInterval)
	defer ticks.Stop()
	for gone := barInterval; ; gone += barInterval {
		select {
		case <-settled:
			return
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if gone >= barDuration {
			yield(generators.Busy(fmt.Sprintf("waiting for more than %.0f s", barDuration.Seconds())))
			return
		}
		yield(generators.Progress(gone.Seconds(), barDuration.Seconds(), fmt.Sprintf("waiting for %.0f s", gone.Truncate(time.Second).Seconds())))
	}
}
