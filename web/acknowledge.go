package web

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// unacknowledged has the answers that are being recorded and whose 202 hasn't been
// written yet. A stream waits for them before it sends what they caused, so that a
// client's own events don't overtake the response to its answer. Its methods may be
// called from several goroutines.
type unacknowledged struct {
	mu    sync.Mutex
	byRun map[string]map[chan struct{}]struct{}
}

// maxAcknowledgeWait is how long a stream waits for a response that can't be written,
// because its client doesn't read it.
const maxAcknowledgeWait = 2 * time.Second

// add adds an answer to a question of a run, before it is recorded. The caller calls
// done when the response is written.
func (u *unacknowledged) add(run string) (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	written := make(chan struct{})
	if u.byRun == nil {
		u.byRun = make(map[string]map[chan struct{}]struct{})
	}
	if u.byRun[run] == nil {
		u.byRun[run] = make(map[chan struct{}]struct{})
	}
	u.byRun[run][written] = struct{}{}
	return func() {
		close(written)
		u.remove(run, written)
	}
}

func (u *unacknowledged) remove(run string, written chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if delete(u.byRun[run], written); len(u.byRun[run]) == 0 {
		delete(u.byRun, run)
	}
}

// wait waits until the responses to the run's present answers are written.
func (u *unacknowledged) wait(ctx context.Context, run string) {
	u.mu.Lock()
	present := slices.Collect(maps.Keys(u.byRun[run]))
	u.mu.Unlock()
	if len(present) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, maxAcknowledgeWait)
	defer cancel()
	for _, written := range present {
		select {
		case <-written:
		case <-limited.Done():
			if ctx.Err() == nil {
				u.remove(run, written) // nothing waits for it again
			}
		}
	}
}

// after yields the entries of a run, each batch when the answers that may have caused it
// are acknowledged.
func (u *unacknowledged) after(ctx context.Context, run string, batches iter.Seq2[[]runlog.Entry, error]) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range batches {
			u.wait(ctx, run)
			if !yield(batch, err) {
				return
			}
		}
	}
}
