package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// A reader reads the logs and files of runs. The methods may be called from several goroutines.
type reader struct{ *core }

// Follow yields a run's entries after an ordinal, both the existing ones and
// those appended later, until the run ends; see [runlog.Log]. The error is
// [ErrRunNotFound] or [ErrForbidden]. The latter also ends the sequence when another
// owner adopts the run.
func (x reader) Follow(ctx context.Context, caller generators.Caller, id string, after uint64) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := x.findRun(caller, id)
	if err != nil {
		return nil, err
	}
	x.ensureChecked(r)
	return endAtLoss(r, caller, x.readEntries(r, x.log.Follow(ctx, id, after), 1, seesPanics(ctx, caller))), nil
}

// readEntries yields batches of the run's log with spilled data loaded. The loop
// counts as that many followers. The run isn't deleted during the loop.
func (x reader) readEntries(r *trackedRun, batches iter.Seq2[[]runlog.Entry, error], followers int64, panics bool) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		r.readerCount.Add(1)
		defer r.readerCount.Add(-1)
		x.followers.Add(followers)
		defer x.followers.Add(-followers)
		for batch, err := range x.files.LoadEach(r.id, batches) {
			if !panics {
				batch = hidePanic(batch)
			}
			if err == nil {
				if batch, err = r.skipSuperseded(batch); len(batch) == 0 && err == nil {
					continue
				}
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

// skipSuperseded returns a batch without the events of attempts at steps that have begun
// again since. So all surfaces show one attempt; who has been told the first one before is
// told next that the step begins again.
//
// It waits until the lists reflect what is in the log: code that appends holds mu until they do.
// So a client that has seen a run end in its stream doesn't find it unfinished in a list. What
// another process has appended is applied here first. The error is that of reading it. It takes mu.
func (r *trackedRun) skipSuperseded(batch []runlog.Entry) ([]runlog.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(batch); n > 0 && r.core.share != nil {
		if err := r.catchUp(batch[n-1].Seq, true); err != nil {
			return nil, err
		}
	}
	isSuperseded := func(e runlog.Entry) bool { return e.Step != "" && e.Seq < r.Repeated[e.Step] }
	if len(r.Repeated) == 0 || !slices.ContainsFunc(batch, isSuperseded) {
		return batch, nil
	}
	return slices.DeleteFunc(slices.Clone(batch), isSuperseded), nil
}

// Read yields a run's existing entries after an ordinal. The error is
// [ErrRunNotFound] or [ErrForbidden].
func (x reader) Read(ctx context.Context, caller generators.Caller, id string, after uint64) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := x.findRun(caller, id)
	if err != nil {
		return nil, err
	}
	return x.readEntries(r, x.log.Read(ctx, id, after), 0, seesPanics(ctx, caller)), nil
}

// A Waiter waits for a run's next entry without a goroutine; see
// [Engine.AddWaiter].
type Waiter interface {
	// Wake is called once, when there is an entry, the run has been deleted, or
	// [Info.PausedFor] has changed. The engine holds locks: Wake must return quickly and
	// must not call the engine.
	Wake()
}

// AddWaiter wakes w once the run has an entry after an ordinal. If the run already
// has one, AddWaiter returns true and doesn't add w. A waiter follows a waiting
// run without a goroutine. The error is [ErrRunNotFound] or [ErrForbidden].
func (x reader) AddWaiter(caller generators.Caller, id string, after uint64, w Waiter) (hasEntry bool, err error) {
	r, err := x.findRun(caller, id)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.removed:
		return false, ErrRunNotFound // deleted in the meantime
	case r.Last > after:
		return true, nil
	}
	r.waiters = append(r.waiters, w)
	r.updatePin()
	x.followers.Add(1)
	return false, nil
}

// RemoveWaiter removes a waiter that [Engine.AddWaiter] has added. Wake may still be
// called concurrently.
func (x reader) RemoveWaiter(id string, w Waiter) {
	r := x.residents.find(id) // pinned as long as it has waiters
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiters, w); i >= 0 {
		r.waiters = slices.Delete(r.waiters, i, i+1)
		x.followers.Add(-1)
		r.updatePin()
	}
}

type panicsKey struct{}

// WithPanics returns a context with which [Engine.Follow] and [Engine.Read] tell operators what
// a tool panicked with, and where. Others, and those who read to pass on what they read, such as
// to MCP clients, are told only that it panicked.
func WithPanics(ctx context.Context) context.Context {
	return context.WithValue(ctx, panicsKey{}, true)
}

// seesPanics reports whether a reader is told of them.
func seesPanics(ctx context.Context, c generators.Caller) bool {
	return ctx.Value(panicsKey{}) != nil && usesAllRuns(c)
}

// hidePanic returns a batch without what the run's tool panicked with.
func hidePanic(batch []runlog.Entry) []runlog.Entry {
	n := len(batch) - 1
	if n < 0 || batch[n].Kind != runlog.KindFinished {
		return batch
	}
	batch = slices.Clone(batch)
	batch[n] = batch[n].WithoutPanic()
	return batch
}
