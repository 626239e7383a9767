package stream

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// Pending are the answers that are being recorded and whose 202 hasn't been
// written yet. A stream waits for them before it sends what they caused, so that a
// client's own events don't overtake the response to its answer. Its methods may be
// called from several goroutines.
type Pending struct {
	mu    sync.Mutex
	byRun map[string]map[chan struct{}]struct{}
}

// maxAcknowledgeWait is how long a stream waits for a response that can't be written,
// because its client doesn't read it.
const maxAcknowledgeWait = 2 * time.Second

// Add adds an answer to a question of a run, before it is recorded. The caller calls
// done when the response is written.
func (p *Pending) Add(run string) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	written := make(chan struct{})
	if p.byRun == nil {
		p.byRun = make(map[string]map[chan struct{}]struct{})
	}
	if p.byRun[run] == nil {
		p.byRun[run] = make(map[chan struct{}]struct{})
	}
	p.byRun[run][written] = struct{}{}
	return func() {
		close(written)
		p.remove(run, written)
	}
}

func (p *Pending) remove(run string, written chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.byRun[run], written); len(p.byRun[run]) == 0 {
		delete(p.byRun, run)
	}
}

// wait waits until the responses to the run's present answers are written.
func (p *Pending) wait(ctx context.Context, run string) {
	p.mu.Lock()
	present := slices.Collect(maps.Keys(p.byRun[run]))
	p.mu.Unlock()
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
				p.remove(run, written) // nothing waits for it again
			}
		}
	}
}

// after yields the entries of a run, each batch when the answers that may have caused it
// are acknowledged.
func (p *Pending) after(ctx context.Context, run string, batches iter.Seq2[[]runlog.Entry, error]) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range batches {
			p.wait(ctx, run)
			if !yield(batch, err) {
				return
			}
		}
	}
}
