package engine

import (
	"context"
	"iter"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Info returns one run, with its open questions. The error is [ErrRunNotFound],
// [ErrForbidden], or the log's.
func (e *Engine) Info(caller generators.Caller, id string) (Info, error) {
	r, err := e.findRun(caller, id)
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	info := r.info()
	info.Asks, err = r.buildOpenAsks(e.generatorCtx, caller)
	return info, err
}

// Runs returns the runs that the caller may use, newest first: at most limit (0 means all) of
// those for which keep returns true (nil means all). keep is called without
// Asks, which may have to be read from the log.
func (e *Engine) Runs(caller generators.Caller, limit int, keep func(Info) bool) []Info {
	var infos []Info
	for r := range e.index.runsNewestFirst(caller) {
		info, ok := r.listInfo(caller, keep)
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

// listInfo returns the run as lists show it to a caller, if its start was recorded and keep
// accepts it. If the open questions can't be read, Asks is empty.
func (r *trackedRun) listInfo(caller generators.Caller, keep func(Info) bool) (info Info, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info = r.info()
	if info.LastSeq == 0 || r.startRefused || keep != nil && !keep(info) {
		return Info{}, false
	}
	var err error
	if info.Asks, err = r.buildOpenAsks(r.engine.generatorCtx, caller); err != nil {
		r.engine.logger.Error("listing a run", "run", r.id, "err", err)
	}
	return info, true
}

// Inbox returns the open questions that the caller may answer, and those of the caller's runs that nobody may, oldest first, at most limit (0 means
// all).
func (e *Engine) Inbox(caller generators.Caller, limit int) []OpenAsk {
	return e.UpdateInbox(caller, limit, nil)
}

// UpdateInbox is [Engine.Inbox] for a caller that has an earlier list, even without the
// bodies of what its questions show. A question doesn't change, so those on that list
// need not be read again.
func (e *Engine) UpdateInbox(caller generators.Caller, limit int, earlier []OpenAsk) []OpenAsk {
	var open []OpenAsk
	for o := range e.InboxAfter(caller, AskPosition{}, earlier) {
		open = append(open, o)
		if limit > 0 && len(open) == limit {
			break
		}
	}
	return open
}

// openAskForInbox returns the question, which it need not read if it is known, unless it
// has been settled in the meantime or can't be read.
func (a *openAsk) openAskForInbox(caller generators.Caller, known map[string]OpenAsk) (o OpenAsk, ok bool) {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.findOpenAsk(a.seq) != a {
		return OpenAsk{}, false
	}
	if o, ok = known[runlog.AskID(r.id, a.seq)]; ok && o.Question.Kind != ask.KindSample { // those may be revised
		o.Owner, o.OwnerName = r.owner(), r.ownerName() // who may have adopted it
		if a.Audience != nil {                          // the people may have changed
			o.Excluded, o.Unanswerable = !a.admits(caller), a.unanswerable.Load()
		}
		return o, true
	}
	o, err := r.buildOpenAsk(r.engine.generatorCtx, a, caller)
	if err != nil {
		r.engine.logger.Error("listing a question", "run", r.id, "err", err)
	}
	return o, err == nil
}

// CountOpenAsks counts the questions of [Engine.Inbox].
func (e *Engine) CountOpenAsks(caller generators.Caller) int {
	return e.index.countAnswerableAsks(caller)
}

// HasOpenAsk reports whether a run that keep accepts has an open question that the caller
// may answer.
func (e *Engine) HasOpenAsk(caller generators.Caller, keep func(Info) bool) bool {
	for a := range e.index.answerableAsks(caller, nil) {
		a.run.mu.Lock()
		info := a.run.info()
		a.run.mu.Unlock()
		if keep(info) {
			return true
		}
	}
	return false
}

// Watch yields once immediately and then after every change of the callers' lists,
// until ctx ends. Changes during the loop's body count as one.
func (e *Engine) Watch(ctx context.Context, callers ...generators.Caller) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		changed, remove := e.index.addWatcher(callers...)
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

// Exists reports whether a run exists, whoever may use it.
func (e *Engine) Exists(id string) bool { return e.index.lookup(id) != nil }
