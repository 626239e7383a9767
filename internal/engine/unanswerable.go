package engine

import "github.com/photon-beam/beam/internal/runlog"

// PeopleChanged finds the open questions that nobody who can sign in may answer any more, and
// those that somebody may answer again. Both are logged. Owners and operators have the former
// in their inboxes. If anybody may sign in, there are none.
func (e *Engine) PeopleChanged() {
	if e.people == nil {
		return
	}
	x := e.index
	x.mu.Lock()
	defer x.mu.Unlock()
	for a := range x.restricted {
		unanswerable := !e.people(a.admits)
		if a.unanswerable.Swap(unanswerable) == unanswerable {
			continue
		}
		attrs := []any{"run", a.run.id, "ask", runlog.AskID(a.run.id, a.seq), "for", a.Audience.String()}
		if unanswerable {
			e.logger.Warn("nobody who can sign in may answer a question any more", attrs...)
		} else {
			e.logger.Info("somebody may answer a question again", attrs...)
		}
		x.ensureOwner(a.run.owner()).notifyWatchers()
		x.everyone.notifyWatchers()
		x.notifyAudience(a)
	}
}

// IsUnanswerable reports whether a question is open and nobody may answer it; see
// [Engine.PeopleChanged].
func (e *Engine) IsUnanswerable(askID string) bool {
	id, seq, _ := runlog.SplitAskID(askID)
	r := e.index.lookup(id)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.findOpenAsk(seq)
	return a != nil && a.unanswerable.Load()
}

// CountUnanswerable counts the open questions that nobody may answer; see
// [Engine.PeopleChanged].
func (e *Engine) CountUnanswerable() (n int) {
	e.index.mu.RLock()
	defer e.index.mu.RUnlock()
	for a := range e.index.restricted {
		if a.unanswerable.Load() {
			n++
		}
	}
	return n
}
