package timeline

import (
	"slices"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/sampling"
)

func (f *fold) Asked(e runlog.Entry, d runlog.Asked) error {
	if d.Question == nil {
		return nil
	}
	d.Question = runlog.ShownQuestion(d.Question) // earlier versions recorded it as it was asked
	a := &Ask{State: Open, asked: d.Question, OpenAsk: engine.OpenAsk{
		ID: runlog.AskID(f.ID, e.Seq), Run: f.ID, Photon: f.Photon, Title: f.Title, Since: e.Time, Asked: d,
	}}
	f.restrict(a)
	if d.Question.Kind == askdata.KindSample {
		a.Sampling = sampling.NewState()
	}
	f.Open = append(f.Open, a)
	f.recordSpent(d.TimeSpent)
	f.endStatus(e.Time)
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Asked, Ask: a})
	f.openAsks[e.Seq], f.AsksChanged = f.Item, true
	f.updateState()
	return nil
}

func (f *fold) Answered(e runlog.Entry, d runlog.Answered) error {
	if i := f.settle(d.AskSeq); i != nil {
		i.Ask.applyAnswer(d, f.Owner, e.Time)
	}
	return nil
}

func (f *fold) Withdrawn(e runlog.Entry, d runlog.Withdrawn) error {
	if i := f.settle(d.AskSeq); i != nil {
		i.Ask.applyWithdrawal(d, e.Time)
	}
	return nil
}

// settle closes a question, which is what the entry has changed, and returns its row; nil if it
// is not open.
func (f *fold) settle(seq uint64) *Item {
	i := f.closeAsk(seq)
	if i != nil {
		f.Item, f.AsksChanged = i, true
		f.updateState()
	}
	return i
}

// closeAsk removes a question from the open ones and returns its row; nil if it is not open.
func (f *fold) closeAsk(seq uint64) *Item {
	i := f.openAsks[seq]
	if i == nil {
		return nil
	}
	delete(f.openAsks, seq)
	f.Open = slices.DeleteFunc(f.Open, func(a *Ask) bool { return a == i.Ask })
	i.Ask.dropLargeEvidence()
	return i
}

// Sampling shows the call of a model, and its reply, as a row of its own.
func (f *fold) Sampling(e runlog.Entry, d runlog.Sampling) error {
	asked := f.openAsks[d.AskSeq]
	if asked == nil || asked.Ask.Sampling == nil {
		return nil
	}
	a := asked.Ask
	text := a.Sampling.Apply(e.Time, d)
	switch i := a.reply; {
	case d.Approved != nil:
		a.revise(d.Approved, f.Owner)
		a.reply = &Item{Seq: e.Seq, Time: e.Time, Kind: Reply, Ask: a, Reply: &Model{Approval: *d.Approved, ChangedBy: a.ChangedBy}}
		f.add(a.reply)
	case i == nil:
		return nil
	case text != "":
		f.ReplyText = text
		f.appendText(i, text)
		return nil
	default:
		if d.Ended != nil {
			i.Reply.End = d.Ended
		}
		i.Reply.Notices, f.Item = a.Sampling.Notices, i
	}
	f.AsksChanged, f.AlsoChanged = true, []*Item{asked}
	return nil
}
