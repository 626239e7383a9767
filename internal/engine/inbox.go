package engine

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// InboxAfter yields the open questions that the caller may answer, and those of the caller's
// runs that nobody may, oldest first, from a position on. A question on an earlier list, even
// without the bodies of what its questions show, isn't read again, because it doesn't change.
// An error ends them.
func (l lists) InboxAfter(caller generators.Caller, after Position, earlier []OpenAsk) iter.Seq2[OpenAsk, error] {
	known := make(map[string]*OpenAsk, len(earlier))
	for i := range earlier {
		known[earlier[i].ID] = &earlier[i]
	}
	return func(yield func(OpenAsk, error) bool) {
		for a, err := range l.asksFor(caller, runlist.AskFilter{}, after) {
			switch {
			case err != nil:
				yield(OpenAsk{}, err)
				return
			case !l.isListed(a, caller):
				continue
			}
			o, open, err := l.updateListedAsk(a, caller, known[a.ID()])
			if (open || err != nil) && !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// Inbox returns the questions of [Engine.InboxAfter], at most limit (0 means all).
func (l lists) Inbox(caller generators.Caller, limit int) ([]OpenAsk, error) {
	var open []OpenAsk
	for o, err := range l.InboxAfter(caller, Position{}, nil) {
		if err != nil {
			return nil, err
		}
		open = append(open, o)
		if limit > 0 && len(open) == limit {
			break
		}
	}
	return open, nil
}

// asksFor yields the open questions of the runs that a caller may use, and those whose
// audience may have the caller, oldest first, from a position on.
func (l lists) asksFor(c generators.Caller, f runlist.AskFilter, after Position) iter.Seq2[runlist.Ask, error] {
	if c.ID == "" {
		return func(func(runlist.Ask, error) bool) {}
	}
	f.Owner, f.Names = ownedBy(c), audience.NamesOf(c)
	return l.openAsks(f, after)
}

// openAsks yields the open questions that a filter selects, oldest first, from a position on.
func (l lists) openAsks(f runlist.AskFilter, after Position) iter.Seq2[runlist.Ask, error] {
	list := func(ctx context.Context, after Position, limit int) ([]runlist.Ask, error) {
		return l.rows.Asks(ctx, f, after, limit)
	}
	return pages.Items(list, func(a runlist.Ask) Position { return Position{At: a.AskedAt, ID: a.ID()} }, after)
}

// isListed reports whether a caller's inbox has a question: one that the caller may answer, or
// that nobody may if the caller may use its run.
func (l lists) isListed(a runlist.Ask, c generators.Caller) bool {
	return admits(a, c) || usableBy(c, a.Run.Owner()) && l.isUnanswerable(a)
}

// updateListedAsk returns a question as lists show it. It is read only if it isn't known. open
// is false if it has been settled in the meantime, or can't be read for good, which is logged.
func (l lists) updateListedAsk(a runlist.Ask, c generators.Caller, known *OpenAsk) (o OpenAsk, open bool, err error) {
	if known == nil || known.Question.Kind == askdata.KindSample || known.Parked != a.Run.Parked { // the first may be revised
		return l.listAsk(a, c)
	}
	o = *known
	o.Owner, o.OwnerName = a.Run.Owner(), nameOfOwner(a.Run.Start, a.Run.Adopter) // who may have adopted it
	if a.Audience != nil {                                                        // the people may have changed
		o.Excluded, o.Unanswerable = !admits(a, c), l.isUnanswerable(a)
	}
	return o, true, nil
}

// listAsk returns a question as lists show it, from memory if possible. open is false if it
// has been settled in the meantime, or can't be read for good, which is logged.
func (l lists) listAsk(a runlist.Ask, c generators.Caller) (o OpenAsk, open bool, err error) {
	asked, found := runlog.Asked{}, false
	if r := l.checkListed(a.Run); r != nil {
		r.mu.Lock()
		row := *a.Run
		row.Parked = r.Parked
		a.Run = &row
		current := r.FindAsk(a.Seq)
		if current != nil {
			asked, found = r.askedFromCall(current)
		}
		refused := r.startRefused
		r.mu.Unlock()
		if current == nil || refused {
			return OpenAsk{}, false, nil
		}
	}
	if !found {
		read, err := l.readAsked(l.generatorCtx, a.Run.ID, a.Seq)
		if IsTransient(err) {
			return OpenAsk{}, false, err
		}
		if err != nil {
			if !l.isDeleted(a.Run.ID) {
				l.logger.Error("listing a question", "run", a.Run.ID, "err", err)
			}
			return OpenAsk{}, false, nil
		}
		asked = read.Asked
	}
	return l.describeAsk(a, asked, c), true, nil
}

// isDeleted reports whether there is no such run any more.
func (l lists) isDeleted(id string) bool {
	_, err := l.rows.Row(l.generatorCtx, id)
	return errors.Is(err, runlog.ErrNotFound)
}

// CountOpenAsks counts the questions of [Engine.Inbox]. The error is that of reading rows.
func (l lists) CountOpenAsks(c generators.Caller) (int, error) {
	if c.ID == "" {
		return 0, nil
	}
	counts, err := l.rows.CountOf(context.Background(), ownedBy(c))
	n := counts.Asks
	for a, askErr := range l.asksFor(c, runlist.AskFilter{Restricted: true}, Position{}) {
		switch listed, counted := askErr == nil && l.isListed(a, c), askErr == nil && usableBy(c, a.Run.Owner()); {
		case askErr != nil:
			return 0, askErr
		case listed && !counted:
			n++
		case counted && !listed:
			n--
		}
	}
	return n, err
}

// HasOpenAsk reports whether a run that keep accepts has an open question that the caller
// may answer. The error is that of reading rows.
func (l lists) HasOpenAsk(c generators.Caller, keep func(Info) bool) (bool, error) {
	for a, err := range l.asksFor(c, runlist.AskFilter{}, Position{}) {
		if err != nil {
			return false, err
		}
		if admits(a, c) && keep(l.describe(a.Run.ID, &a.Run.Run)) {
			return true, nil
		}
	}
	return false, nil
}

// SamplingAsks yields the ids of the open questions that a model has been called for,
// of all owners. A call may have ended without an answer. An error ends them.
func (l lists) SamplingAsks() iter.Seq2[string, error] {
	return l.openAskIDs(runlist.AskFilter{Called: true})
}

// OpenAskIDs yields the ids of all open questions, of all owners, oldest first. An error ends
// them.
func (l lists) OpenAskIDs() iter.Seq2[string, error] { return l.openAskIDs(runlist.AskFilter{}) }

func (l lists) openAskIDs(f runlist.AskFilter) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for a, err := range l.openAsks(f, Position{}) {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(a.ID(), nil) {
				return
			}
		}
	}
}

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

// CountOpenAsksByAge counts the open questions of all owners by age. bounds are in
// ascending order. open[i] is the number of questions that are younger than
// bounds[i], but not than the bound before; the last element counts the rest.
// oldest is the age of the oldest question, or 0 if none is open. The error is that of reading
// rows.
func (l lists) CountOpenAsksByAge(bounds ...time.Duration) (open []int, oldest time.Duration, err error) {
	ctx, now := context.Background(), time.Now()
	first, err := l.rows.Asks(ctx, runlist.AskFilter{}, Position{}, 1)
	if err == nil && len(first) > 0 {
		oldest = max(0, now.Sub(first[0].AskedAt))
	}
	all, countErr := l.rows.CountOf(ctx, "")
	err = errors.Join(err, countErr)
	left := all.Asks // of which those that are older are counted next
	for _, bound := range bounds {
		older, countErr := l.rows.CountAsks(ctx, now.Add(-bound))
		err = errors.Join(err, countErr)
		open = append(open, max(0, left-older))
		left = older
	}
	return append(open, left), oldest, err
}
