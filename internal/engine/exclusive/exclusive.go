// Package exclusive lets one run at a time work of those with the same key; see
// generators.Options.Exclusive.
package exclusive

import (
	"context"
	"log/slog"
	"sync"

	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// Runs are the unfinished runs of photons with generators.Options.Exclusive. Of those
// with the same key, the first may work, and the others are queued in the order in which they
// started, as their rows say. Its methods may be called from several goroutines.
type Runs struct {
	rows         runlist.Rows
	startIfFirst func(run string) // starts a queued run whose turn it is
	logger       *slog.Logger
	finding      schedule.Queue
	starting     sync.Mutex // held while a run with a key starts

	mu sync.Mutex // guards what follows
	// returning has the ended runs whose generators have yet to return.
	returning map[Key]map[string]struct{}
	// paused means that no run follows one that has ended, because the runs in the log are
	// still being recovered.
	paused bool
}

// New returns the runs with rows. startIfFirst starts a queued run if its turn has come.
func New(rows runlist.Rows, startIfFirst func(run string), logger *slog.Logger) *Runs {
	return &Runs{rows: rows, startIfFirst: startIfFirst, logger: logger, returning: make(map[Key]map[string]struct{})}
}

// A Key is one of a photon; Key is empty for a run that has none.
type Key struct{ Photon, Key string }

// KeyOf returns the key of a run with a start.
func KeyOf(s *runlog.Started) Key { return Key{s.Photon, s.Exclusive} }

// Join reports whether a run that is about to start is the first with its key. No other starts
// until release is called. A run without a key always is.
func (x *Runs) Join(ctx context.Context, k Key) (first bool, release func(), err error) {
	if k.Key == "" {
		return true, func() {}, nil
	}
	x.starting.Lock()
	other, err := x.rows.FirstOf(ctx, k.Photon, k.Key)
	if err != nil {
		x.starting.Unlock()
		return false, nil, err
	}
	return other == nil && !x.isReturning(k), x.starting.Unlock, nil
}

func (x *Runs) isReturning(k Key) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.returning[k]) > 0
}

// Hold keeps the key of a run until Release is called, because the run has ended while its
// generator may still be in a step, or clean up.
func (x *Runs) Hold(k Key, run string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k.Key == "" {
		return
	}
	if x.returning[k] == nil {
		x.returning[k] = make(map[string]struct{})
	}
	x.returning[k][run] = struct{}{}
}

// Release lets the next run with the key of a run start, which has ended, and whose generator has
// returned.
func (x *Runs) Release(k Key, run string) {
	x.mu.Lock()
	if delete(x.returning[k], run); len(x.returning[k]) == 0 {
		delete(x.returning, k)
	}
	x.mu.Unlock()
	x.StartNext(k)
}

// StartNext starts the first run with a key if it is queued.
func (x *Runs) StartNext(k Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k.Key == "" || x.paused {
		return
	}
	x.finding.Add(func() {
		first, err := x.rows.FirstOf(context.Background(), k.Photon, k.Key)
		if err != nil {
			x.logger.Error("finding the next run with a key", "photon", k.Photon, "key", k.Key, "err", err)
		}
		if first != nil && first.Queued {
			x.startIfFirst(first.ID)
		}
	})
}

// IsFirst reports whether a queued run's turn has come.
func (x *Runs) IsFirst(k Key, run string) bool {
	if x.isReturning(k) {
		return false
	}
	first, err := x.rows.FirstOf(context.Background(), k.Photon, k.Key)
	if err != nil {
		x.logger.Error("finding the first run with a key", "run", run, "err", err)
	}
	return first != nil && first.ID == run
}

// Pause lets no run follow one that has ended until Resume is called.
func (x *Runs) Pause() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.paused = true
}

// Resume lets the first runs with their keys start.
func (x *Runs) Resume() error {
	x.mu.Lock()
	x.paused = false
	x.mu.Unlock()
	done := make(map[Key]bool)
	for row, err := range pages.Each(x.rows.Queued, pages.StartOf) {
		if err != nil {
			return err
		}
		if k := KeyOf(&row.Start); !done[k] {
			done[k] = true
			x.StartNext(k)
		}
	}
	return nil
}
