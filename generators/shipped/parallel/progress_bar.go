package parallel

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/generators"
)

// The bar shows how long the questions have been open. It stops when it is full: they
// may stay open for days, and every event is recorded.
const (
	barDuration = time.Minute
	barInterval = time.Second / 4
)

// startBar starts a progress bar. The caller must call finish, which stops the bar and
// waits for it to end. startBar reports false if the run has stopped.
func startBar(yield generators.Yield) (finish func(), ok bool) {
	// The generator itself sends the events before and after the questions, so that
	// their order is the same in every run.
	if !yield(generators.Progress(0, barDuration.Seconds(), "three questions are open")) {
		return nil, false
	}
	settled, ended := make(chan struct{}), make(chan struct{})
	if !generators.Go(yield, func(ctx context.Context, yield generators.Yield) {
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

// runBar advances the bar until the questions are settled or the run ends.
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
