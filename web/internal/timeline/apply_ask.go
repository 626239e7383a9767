package timeline

import (
	"slices"

	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

func (r *Run) applyAsked(e runlog.Entry, d runlog.Asked) Change {
	if d.Question == nil {
		return Change{}
	}
	a := &Ask{State: Open, OpenAsk: engine.OpenAsk{
		ID: runlog.AskID(r.ID, e.Seq), Run: r.ID, Photon: r.Photon, Title: r.Title, Since: e.Time, Asked: d,
	}}
	r.Open = append(r.Open, a)
	r.recordSpent(d.TimeSpent)
	ended := r.endStatus(e.Time)
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Asked, Ask: a})
	c.AlsoChanged = ended
	r.openAsks[e.Seq] = c.Item
	return r.updateState(c)
}

func (r *Run) applyAnswered(e runlog.Entry, d runlog.Answered) Change {
	i := r.closeAsk(d.AskSeq)
	if i == nil {
		return Change{}
	}
	i.Ask.applyAnswer(d, r.Owner, e.Time)
	return r.updateState(Change{Item: i})
}

func (r *Run) applyWithdrawn(e runlog.Entry, d runlog.Withdrawn) Change {
	i := r.closeAsk(d.AskSeq)
	if i == nil {
		return Change{}
	}
	i.Ask.applyWithdrawal(d, e.Time)
	return r.updateState(Change{Item: i})
}

// closeAsk removes a question from the open ones and returns its row; nil if it is not open.
func (r *Run) closeAsk(seq uint64) *Item {
	i := r.openAsks[seq]
	if i == nil {
		return nil
	}
	delete(r.openAsks, seq)
	r.Open = slices.DeleteFunc(r.Open, func(a *Ask) bool { return a == i.Ask })
	return i
}

// updateState sets the run's state after its open questions changed.
func (r *Run) updateState(c Change) Change {
	c.AsksChanged = true
	state := engine.Running
	if len(r.Open) > 0 {
		state = engine.Waiting
	}
	if r.State.Ended() {
		state = r.State
	}
	c.StateChanged = state != r.State
	r.State = state
	return c
}
