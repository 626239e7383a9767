package engine

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Follow yields a run's entries after an ordinal, those that are there and
// those that come, until it ends; see [log.Log]. The error is ErrNotFound or
// ErrForbidden.
func (e *Engine) Follow(ctx context.Context, who Caller, id string, after uint64) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := e.findRun(who, id)
	if err != nil {
		return nil, err
	}
	return r.readEntries(e.log.Follow(ctx, id, after), 1), nil
}

// readEntries yields entries of the run's log, to so many followers. Nobody deletes the
// run meanwhile.
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

// waitUntilIndexed returns when what is in the log is in the lists too: whoever appends
// holds mu until it is. So who sees a run end in its stream doesn't find it
// going on in a list.
func (r *trackedRun) waitUntilIndexed() {
	r.mu.Lock()
	defer r.mu.Unlock()
}

// Read yields the entries that are there now.
func (e *Engine) Read(ctx context.Context, who Caller, id string) (iter.Seq2[[]runlog.Entry, error], error) {
	r, err := e.findRun(who, id)
	if err != nil {
		return nil, err
	}
	return r.readEntries(e.log.Read(ctx, id, 0), 0), nil
}

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

// Info returns one run.
func (e *Engine) Info(who Caller, id string) (Info, error) {
	r, err := e.findRun(who, id)
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	info := r.info()
	info.Asks, err = r.buildOpenAsks(e.generatorCtx)
	return info, err
}

// Runs returns the caller's runs, newest first, at most limit (0: all) of those
// that keep accepts (nil: all). keep is not shown the questions, which may have
// to be read from the log.
func (e *Engine) Runs(who Caller, limit int, keep func(Info) bool) []Info {
	var infos []Info
	for r := range e.index.runsNewestFirst(who.uniqueOwners()) {
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

// listInfo copies what a list of runs shows, of a run that has begun and is kept.
// A question that can't be read is left out.
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

// Inbox returns the caller's open questions, oldest first, at most limit (0:
// all).
func (e *Engine) Inbox(who Caller, limit int) []OpenAsk {
	var open []OpenAsk
	for a := range e.index.asksOldestFirst(who.uniqueOwners()) {
		if o, ok := a.openAskForInbox(); ok {
			open = append(open, o)
		}
		if limit > 0 && len(open) == limit {
			break
		}
	}
	return open
}

// inboxEntry copies what the inbox shows, unless the question was settled in the
// meantime or can't be read.
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
func (e *Engine) CountOpenAsks(who Caller) int {
	n := 0
	for _, owner := range who.uniqueOwners() {
		n += e.index.countOpenAsks(owner)
	}
	return n
}

// Watch yields once at once and then after every change of the caller's lists,
// until ctx ends. Changes that come while the loop's body runs count as one.
func (e *Engine) Watch(ctx context.Context, who Caller) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		changed, end := e.index.addWatcher(who.uniqueOwners())
		defer end()
		for yield(struct{}{}) {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// OpenArtifact opens the artifact with an ordinal. Its body is in the artifact
// itself or, if it is large, in the reader, which the caller closes.
func (e *Engine) OpenArtifact(ctx context.Context, who Caller, id string, seq uint64) (*generators.Artifact, io.ReadSeekCloser, error) {
	if _, err := e.findRun(who, id); err != nil {
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
