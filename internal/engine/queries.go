package engine

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Follow yields a run's entries after an ordinal, both the existing ones and
// those appended later, until the run ends; see [runlog.Log]. The error is
// [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) Follow(ctx context.Context, caller Caller, id string, after uint64) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return nil, err
	}
	return r.readEntries(e.log.Follow(ctx, id, after), 1), nil
}

// readEntries yields batches of the run's log with spilled data loaded. The loop
// counts as that many followers. The run isn't deleted during the loop.
func (r *trackedRun) readEntries(batches iter.Seq2[[]runlog.Entry, error], followers int64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		r.readerCount.Add(1)
		defer r.readerCount.Add(-1)
		r.engine.counters.followers.Add(followers)
		defer r.engine.counters.followers.Add(-followers)
		for batch, err := range r.engine.loadSpilledBatches(r.id, batches) {
			r.waitUntilIndexed()
			if !yield(batch, err) {
				return
			}
		}
	}
}

// waitUntilIndexed waits until the lists reflect what is in the log: code that
// appends holds mu until they do. So a client that has seen a run end in its
// stream doesn't find it unfinished in a list.
func (r *trackedRun) waitUntilIndexed() {
	r.mu.Lock()
	defer r.mu.Unlock()
}

// Read yields a run's existing entries after an ordinal. The error is
// [ErrRunNotFound] or [ErrForbidden].
func (e *Engine) Read(ctx context.Context, caller Caller, id string, after uint64) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return nil, err
	}
	return r.readEntries(e.log.Read(ctx, id, after), 0), nil
}

// loadSpilledBatches yields batches of a run's log with spilled data loaded.
func (e *Engine) loadSpilledBatches(id string, batches iter.Seq2[[]runlog.Entry, error]) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range batches {
			cloned := false
			for i := range batch {
				if batch[i].Blob == "" || err != nil {
					continue
				}
				if !cloned {
					batch, cloned = slices.Clone(batch), true
				}
				batch[i], err = e.loadSpilledData(id, batch[i])
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// Info returns one run, with its open questions. The error is [ErrRunNotFound],
// [ErrForbidden], or the log's.
func (e *Engine) Info(caller Caller, id string) (Info, error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	info := r.info()
	info.Asks, err = r.buildOpenAsks(e.generatorCtx)
	return info, err
}

// Runs returns the caller's runs, newest first: at most limit (0 means all) of
// those for which keep returns true (nil means all). keep is called without
// Asks, which may have to be read from the log.
func (e *Engine) Runs(caller Caller, limit int, keep func(Info) bool) []Info {
	var infos []Info
	for r := range e.index.runsNewestFirst(caller.uniqueOwners()) {
		info, ok := r.listInfo(keep)
		if !ok {
			continue
		}
		infos = append(infos, info)
		if limit > 0 && len(infos) == limit {
			break
		}
	}
	return infos
}

// listInfo returns the run as lists show it, if its start was recorded and keep
// accepts it. If the open questions can't be read, Asks is empty.
func (r *trackedRun) listInfo(keep func(Info) bool) (info Info, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info = r.info()
	if info.LastSeq == 0 || r.startRefused || keep != nil && !keep(info) {
		return Info{}, false
	}
	var err error
	if info.Asks, err = r.buildOpenAsks(r.engine.generatorCtx); err != nil {
		r.engine.logger.Error("listing a run", "run", r.id, "err", err)
	}
	return info, true
}

// Inbox returns the caller's open questions, oldest first, at most limit (0 means
// all).
func (e *Engine) Inbox(caller Caller, limit int) []OpenAsk {
	var open []OpenAsk
	for a := range e.index.asksOldestFirst(caller.uniqueOwners()) {
		if o, ok := a.openAskForInbox(); ok {
			open = append(open, o)
		}
		if limit > 0 && len(open) == limit {
			break
		}
	}
	return open
}

// openAskForInbox returns the question, unless it has been settled in the meantime
// or can't be read.
func (a *openAsk) openAskForInbox() (o OpenAsk, ok bool) {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.findOpenAsk(a.seq) != a {
		return OpenAsk{}, false
	}
	o, err := r.buildOpenAsk(r.engine.generatorCtx, a)
	if err != nil {
		r.engine.logger.Error("listing a question", "run", r.id, "err", err)
	}
	return o, err == nil
}

// CountOpenAsks counts the caller's open questions.
func (e *Engine) CountOpenAsks(caller Caller) int {
	n := 0
	for _, owner := range caller.uniqueOwners() {
		n += e.index.countOpenAsks(owner)
	}
	return n
}

// Watch yields once immediately and then after every change of the caller's lists,
// until ctx ends. Changes during the loop's body count as one.
func (e *Engine) Watch(ctx context.Context, caller Caller) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		changed, remove := e.index.addWatcher(caller.uniqueOwners())
		defer remove()
		for yield(struct{}{}) {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// OpenArtifact returns the artifact with an ordinal. A large artifact's body is in
// the reader, which the caller must close; for any other the reader is nil and
// the body is in the artifact. The error is [ErrRunNotFound], [ErrForbidden], the
// log's, or the file system's.
func (e *Engine) OpenArtifact(ctx context.Context, caller Caller, id string, seq uint64) (*generators.Artifact, io.ReadSeekCloser, error) {
	if _, err := e.findRun(caller, id); err != nil {
		return nil, nil, err
	}
	if seq == 0 {
		return nil, nil, ErrRunNotFound
	}
	for batch, err := range e.log.Read(ctx, id, seq-1) {
		if err != nil {
			return nil, nil, err
		}
		if len(batch) > 0 && batch[0].Seq == seq && batch[0].Kind == "artifact" {
			return e.openArtifactEntry(id, batch[0])
		}
		break
	}
	return nil, nil, ErrRunNotFound
}

func (e *Engine) openArtifactEntry(id string, entry runlog.Entry) (*generators.Artifact, io.ReadSeekCloser, error) {
	entry, err := e.loadSpilledData(id, entry)
	if err != nil {
		return nil, nil, err
	}
	a, err := runlog.Decode[generators.Artifact](entry)
	if err != nil {
		return nil, nil, err
	}
	if a.Digest == "" {
		return &a, nil, nil
	}
	f, err := e.blobs.Open(id, a.Digest)
	return &a, f, err
}
