package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/engine/pages"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Position is a place in a list of runs, which are ordered by their starts, or of questions;
// see [runlist.Position]. The zero value is the list's beginning.
type Position = runlist.Position

// Position returns the place after a run.
func (i *Info) Position() Position { return Position{At: i.Started, ID: i.ID} }

// Position returns the place after a question.
func (o *OpenAsk) Position() Position { return Position{At: o.Since, ID: o.ID} }

// lists list runs and open questions, from their rows. The methods may be called from several
// goroutines.
type lists struct {
	*core
	unanswerable *unanswerableAsks
}

// RunsAfter yields the runs that the caller may use, newest first, from a position on. They
// are without Asks, so that none of their logs is read. Runs that start meanwhile aren't
// among them. An error ends them.
func (l lists) RunsAfter(caller generators.Caller, after Position) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for row, err := range l.rowsOf(caller, after) {
			if err != nil {
				yield(Info{}, err)
				return
			}
			if info, listed := l.listRun(row); listed && !yield(info, nil) {
				return
			}
		}
	}
}

// rowsOf yields the rows of the runs that a caller may use, newest first, from a position on.
func (l lists) rowsOf(c generators.Caller, after Position) iter.Seq2[*runlist.Row, error] {
	if c.ID == "" {
		return func(func(*runlist.Row, error) bool) {}
	}
	return pages.After(func(ctx context.Context, after Position, limit int) ([]*runlist.Row, error) {
		return l.rows.RunsOf(ctx, ownedBy(c), after, limit)
	}, pages.StartOf, after)
}

// listRun returns a run as lists show it, without its questions. It reports false for a run
// whose start was refused.
func (l lists) listRun(row *runlist.Row) (info Info, listed bool) {
	r := l.residents.find(row.ID)
	if r == nil {
		return l.describe(row.ID, &row.Run), true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info(), !r.startRefused && r.Last > 0
}

// Runs returns the runs that the caller may use, newest first: at most limit (0 means all) of
// those for which keep returns true (nil means all). keep is called without
// Asks, which may have to be read from the log.
func (l lists) Runs(caller generators.Caller, limit int, keep func(Info) bool) ([]Info, error) {
	var infos []Info
	for row, err := range l.rowsOf(caller, Position{}) {
		if err != nil {
			return nil, err
		}
		info, listed := l.listRun(row)
		if !listed || keep != nil && !keep(info) {
			continue
		}
		for _, a := range row.Asks {
			if o, open := l.listAsk(runlist.Ask{Ask: a, Run: row}, caller); open {
				info.Asks = append(info.Asks, o)
			}
		}
		infos = append(infos, info)
		if limit > 0 && len(infos) == limit {
			break
		}
	}
	return infos, nil
}

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
			o, open := l.updateListedAsk(a, caller, known[a.ID()])
			if open && !yield(o, nil) {
				return
			}
		}
	}
}

// Inbox returns the questions of [Engine.InboxAfter], at most limit (0 means all).
func (l lists) Inbox(caller generators.Caller, limit int) ([]OpenAsk, error) {
	return l.UpdateInbox(caller, limit, nil)
}

// UpdateInbox is [Engine.Inbox] for a caller that has an earlier list.
func (l lists) UpdateInbox(caller generators.Caller, limit int, earlier []OpenAsk) ([]OpenAsk, error) {
	var open []OpenAsk
	for o, err := range l.InboxAfter(caller, Position{}, earlier) {
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
// is false if it has been settled in the meantime, or can't be read, which is logged.
func (l lists) updateListedAsk(a runlist.Ask, c generators.Caller, known *OpenAsk) (o OpenAsk, open bool) {
	if known == nil || known.Question.Kind == ask.KindSample { // which may be revised
		return l.listAsk(a, c)
	}
	o = *known
	o.Owner, o.OwnerName = a.Run.Owner(), nameOfOwner(a.Run.Start, a.Run.Adopter) // who may have adopted it
	if a.Audience != nil {                                                        // the people may have changed
		o.Excluded, o.Unanswerable = !admits(a, c), l.isUnanswerable(a)
	}
	return o, true
}

// listAsk returns a question as lists show it, from memory if possible. open is false if it
// has been settled in the meantime, or can't be read, which is logged.
func (l lists) listAsk(a runlist.Ask, c generators.Caller) (o OpenAsk, open bool) {
	asked, found := runlog.Asked{}, false
	if r := l.residents.find(a.Run.ID); r != nil {
		r.mu.Lock()
		current := r.FindAsk(a.Seq)
		if current != nil {
			asked, found = r.askedFromCall(current)
		}
		refused := r.startRefused
		r.mu.Unlock()
		if current == nil || refused {
			return OpenAsk{}, false
		}
	}
	var err error
	if !found {
		read, readErr := l.readAsked(l.generatorCtx, a.Run.ID, a.Seq)
		if asked, err = read.Asked, readErr; err != nil && !l.isDeleted(a.Run.ID) {
			l.logger.Error("listing a question", "run", a.Run.ID, "err", err)
		}
	}
	return l.describeAsk(a, asked, c), err == nil
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

// admits reports whether a caller may answer a question.
func admits(a runlist.Ask, c generators.Caller) bool {
	return a.Audience.Admits(c, audience.Starter(a.Run.Start.StartedBy()), usableBy(c, a.Run.Owner()))
}

// Watch yields once immediately and then after every change of the callers' lists,
// until ctx ends. Changes during the loop's body count as one.
func (l lists) Watch(ctx context.Context, callers ...generators.Caller) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		changed, remove := l.watchers.Add(callers, ownedBy)
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
