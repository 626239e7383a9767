package timeline

import (
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

func (r *Run) applyAsked(e runlog.Entry, d runlog.Asked) Change {
	if d.Question == nil {
		return Change{}
	}
	d.Question = runlog.ShownQuestion(d.Question) // earlier versions recorded it as it was asked
	a := &Ask{State: Open, asked: d.Question, OpenAsk: engine.OpenAsk{
		ID: runlog.AskID(r.ID, e.Seq), Run: r.ID, Photon: r.Photon, Title: r.Title, Since: e.Time, Asked: d,
	}}
	r.restrict(a)
	if d.Question.Kind == ask.KindSample {
		a.Sampling = sampling.NewState()
	}
	r.Open = append(r.Open, a)
	r.recordSpent(d.TimeSpent)
	ended := r.endStatus(e.Time)
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Asked, Ask: a})
	c.AlsoChanged = ended
	r.openAsks[e.Seq], c.AsksChanged = c.Item, true
	return r.updateState(c)
}

// restrict sets who may answer a question, and whether the viewer may not.
func (r *Run) restrict(a *Ask) {
	a.For, a.Excluded = "", false
	switch who := audience.Of(a.Question); {
	case who != nil:
		a.For, a.Excluded = who.String(), !who.Admits(r.Viewer, audience.Starter(r.startedBy), true)
		a.OpenAsk.Unanswerable = r.Unanswerable != nil && r.Unanswerable(a.ID)
	case audience.ReservesForOwner(a.Question, r.Viewer, r.Owner):
		a.For, a.Excluded = callers.Describe(r.Owner.ID, r.Owner.Name), true
	}
}

// UpdateAudiences finds out anew whether somebody may answer the open questions, and returns
// those of which that has changed.
func (r *Run) UpdateAudiences() (changed []engine.OpenAsk) {
	for _, a := range r.Open {
		before := a.Unanswerable
		if r.restrict(a); a.Unanswerable != before {
			changed = append(changed, a.OpenAsk)
		}
	}
	return changed
}

func (r *Run) applyAnswered(e runlog.Entry, d runlog.Answered) Change {
	i := r.closeAsk(d.AskSeq)
	if i == nil {
		return Change{}
	}
	i.Ask.applyAnswer(d, r.Owner, e.Time)
	return r.updateState(Change{Item: i, AsksChanged: true})
}

func (r *Run) applyWithdrawn(e runlog.Entry, d runlog.Withdrawn) Change {
	i := r.closeAsk(d.AskSeq)
	if i == nil {
		return Change{}
	}
	i.Ask.applyWithdrawal(d, e.Time)
	return r.updateState(Change{Item: i, AsksChanged: true})
}

// closeAsk removes a question from the open ones and returns its row; nil if it is not open.
func (r *Run) closeAsk(seq uint64) *Item {
	i := r.openAsks[seq]
	if i == nil {
		return nil
	}
	delete(r.openAsks, seq)
	r.Open = slices.DeleteFunc(r.Open, func(a *Ask) bool { return a == i.Ask })
	i.Ask.dropLargeEvidence()
	return i
}

// maxSettledEvidence is how much of what a settled question has shown is kept, in bytes.
const maxSettledEvidence = 64 << 10

// dropLargeEvidence drops the bodies of what the question has shown if they are large.
func (a *Ask) dropLargeEvidence() {
	size := 0
	for _, e := range a.Question.Evidence {
		size += len(e.Body)
	}
	if size <= maxSettledEvidence {
		return
	}
	q := *a.Question // others use the question too
	q.Evidence = make([]*generators.Artifact, len(a.Question.Evidence))
	for i, e := range a.Question.Evidence {
		c := *e
		c.Body = nil
		q.Evidence[i] = &c
	}
	a.Question = &q
}

// updateState sets the run's state after its open questions or sleeps changed.
func (r *Run) updateState(c Change) Change {
	state := engine.Running
	switch {
	case r.State.Ended():
		state = r.State
	case len(r.Open) > 0:
		state = engine.Waiting
	case len(r.sleeping) > 0:
		state = engine.Sleeping
	}
	var wakes time.Time
	for _, s := range r.sleeping {
		if wakes.IsZero() || s.until.Before(wakes) {
			wakes = s.until
		}
	}
	c.StateChanged = state != r.State || !wakes.Equal(r.Wakes)
	r.State, r.Wakes = state, wakes
	return c
}
