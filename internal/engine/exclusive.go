package engine

import (
	"context"
	"log/slog"
	"sync"

	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// exclusiveRuns are the unfinished runs of photons with generators.Options.Exclusive. Of those
// with the same key, the first may work, and the others are queued in the order in which they
// started, as their rows say. Its methods may be called from several goroutines.
type exclusiveRuns struct {
	rows         runlist.Rows
	startIfFirst func(run string) // starts a queued run whose turn it is
	logger       *slog.Logger
	finding      schedule.Queue
	starting     sync.Mutex // held while a run with a key starts

	mu sync.Mutex
	// returning has the number of generators of ended runs with a key that have yet to return.
	returning map[exclusiveKey]int
	// paused means that no run follows one that has ended, because the runs in the log are
	// still being recovered.
	paused bool
}

func newExclusiveRuns(rows runlist.Rows, startIfFirst func(run string), logger *slog.Logger) *exclusiveRuns {
	return &exclusiveRuns{rows: rows, startIfFirst: startIfFirst, logger: logger, returning: make(map[exclusiveKey]int)}
}

type exclusiveKey struct{ photon, key string }

func exclusiveKeyOf(s *runlog.Started) exclusiveKey { return exclusiveKey{s.Photon, s.Exclusive} }

// join reports whether a run that is about to start is the first with its key. No other starts
// until release is called. A run without a key always is.
func (x *exclusiveRuns) join(ctx context.Context, r *trackedRun) (first bool, release func(), err error) {
	if r.Start.Exclusive == "" {
		return true, func() {}, nil
	}
	x.starting.Lock()
	other, err := x.rows.FirstOf(ctx, r.Start.Photon, r.Start.Exclusive)
	if err != nil {
		x.starting.Unlock()
		return false, nil, err
	}
	return other == nil && !x.isReturning(exclusiveKeyOf(&r.Start)), x.starting.Unlock, nil
}

func (x *exclusiveRuns) isReturning(k exclusiveKey) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.returning[k] > 0
}

// addReturning adds to the number of generators of ended runs that have yet to return.
func (x *exclusiveRuns) addReturning(k exclusiveKey, n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.returning[k] += n; x.returning[k] == 0 {
		delete(x.returning, k)
	}
}

// hold keeps a run's key until release is called, because the run has ended while its
// generator may still be in a step, or clean up. Callers hold r.mu.
func (x *exclusiveRuns) hold(r *trackedRun) {
	if r.Start.Exclusive != "" && !r.holdsKey {
		r.holdsKey = true
		x.addReturning(exclusiveKeyOf(&r.Start), 1)
	}
}

// release lets the next run with its key start if a run has ended, and its generator
// has returned. Callers hold r.mu.
func (x *exclusiveRuns) release(r *trackedRun) {
	if r.Start.Exclusive == "" || !r.State.Ended() || r.drivers > 0 {
		return
	}
	if r.holdsKey {
		r.holdsKey = false
		x.addReturning(exclusiveKeyOf(&r.Start), -1)
	}
	x.startNext(exclusiveKeyOf(&r.Start))
}

// startNext starts the first run with a key if it is queued.
func (x *exclusiveRuns) startNext(k exclusiveKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k.key == "" || x.paused {
		return
	}
	x.finding.Add(func() {
		first, err := x.rows.FirstOf(context.Background(), k.photon, k.key)
		if err != nil {
			x.logger.Error("finding the next run with a key", "photon", k.photon, "key", k.key, "err", err)
		}
		if first != nil && first.Queued {
			x.startIfFirst(first.ID)
		}
	})
}

// isFirst reports whether a queued run's turn has come.
func (x *exclusiveRuns) isFirst(r *trackedRun) bool {
	if x.isReturning(exclusiveKeyOf(&r.Start)) {
		return false
	}
	first, err := x.rows.FirstOf(context.Background(), r.Start.Photon, r.Start.Exclusive)
	if err != nil {
		x.logger.Error("finding the first run with a key", "run", r.id, "err", err)
	}
	return first != nil && first.ID == r.id
}

// pause lets no run follow one that has ended until resume is called.
func (x *exclusiveRuns) pause() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.paused = true
}

// resume lets the first runs with their keys start.
func (x *exclusiveRuns) resume() error {
	x.mu.Lock()
	x.paused = false
	x.mu.Unlock()
	done := make(map[exclusiveKey]bool)
	for row, err := range pages.Each(x.rows.Queued, pages.StartOf) {
		if err != nil {
			return err
		}
		if k := exclusiveKeyOf(&row.Start); !done[k] {
			done[k] = true
			x.startNext(k)
		}
	}
	return nil
}

// startIfFirst starts a queued run whose turn it is.
func (c *core) startIfFirst(run string) {
	r, err := c.load(run)
	if err != nil {
		c.logger.Error("starting the next run with a key", "run", run, "err", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Queued && r.canResume() {
		resumer{r.core}.queue(r)
	}
}
