package engine

import (
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// unanswerableAsks are the ids of the open questions of which [Engine.PeopleChanged] has
// logged that nobody may answer them.
type unanswerableAsks struct {
	mu  sync.Mutex
	ids map[string]struct{}
}

// PeopleChanged finds the open questions that nobody who can sign in may answer any more, and
// those that somebody may answer again. Both are logged. Owners and operators have the former
// in their inboxes. If anybody may sign in, there are none.
func (l lists) PeopleChanged() {
	u := l.unanswerable
	u.mu.Lock()
	defer u.mu.Unlock()
	now := make(map[string]struct{})
	for a, err := range l.openAsks(runlist.AskFilter{Restricted: true}, Position{}) {
		if err != nil {
			l.logger.Error("finding out who may answer questions", "err", err)
			return
		}
		id := a.ID()
		_, before := u.ids[id]
		unanswerable := l.isUnanswerable(a)
		if unanswerable {
			now[id] = struct{}{}
		}
		if unanswerable == before {
			continue
		}
		attrs := []any{"run", a.Run.ID, "ask", id, "for", a.Audience.String()}
		if unanswerable {
			l.logger.Warn("nobody who can sign in may answer a question any more", attrs...)
		} else {
			l.logger.Info("somebody may answer a question again", attrs...)
		}
		l.watchers.Notify(a.Run.Owner())
		l.notifyAudience(a)
	}
	u.ids = now
}

// isUnanswerable reports whether nobody who can sign in may answer a question.
func (c *core) isUnanswerable(a runlist.Ask) bool {
	return a.Audience != nil && c.people != nil && !c.people(func(c generators.Caller) bool { return admits(a, c) })
}

// IsUnanswerable reports whether a question is open and nobody may answer it; see
// [Engine.PeopleChanged].
func (l lists) IsUnanswerable(askID string) bool {
	id, seq, _ := runlog.SplitAskID(askID)
	r, err := l.load(id)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.FindAsk(seq)
	return a != nil && l.isUnanswerable(r.listed(a))
}

// CountUnanswerable counts the open questions that nobody may answer; see
// [Engine.PeopleChanged]. The error is that of reading rows.
func (l lists) CountUnanswerable() (n int, err error) {
	for a, err := range l.openAsks(runlist.AskFilter{Restricted: true}, Position{}) {
		if err != nil {
			return 0, err
		}
		if l.isUnanswerable(a) {
			n++
		}
	}
	return n, nil
}
