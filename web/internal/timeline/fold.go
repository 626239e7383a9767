package timeline

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

// A fold applies an entry to a run.
type fold struct {
	*Run
	Change
}

var _ runlog.Visitor = (*fold)(nil)

// add appends an item, which is what the entry has changed.
func (f *fold) add(i *Item) {
	if f.latest != nil {
		i.SameInstant = f.tenthsSinceStart(i.Time) == f.tenthsSinceStart(f.latest.Time)
	}
	f.latest, f.Item, f.Added = i, i, true
	if dropped := f.addItem(i); dropped != nil {
		f.Dropped = dropped.Seq
		f.endIfCurrent(dropped)
	}
}

// endIfCurrent ends the status in effect if it is i.
func (f *fold) endIfCurrent(i *Item) {
	if f.openStatus == i {
		f.openStatus = nil
	}
}

// addStatus adds a status of a run that works on.
func (f *fold) addStatus(e runlog.Entry, level generators.Level, text string) *Item {
	i := &Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: level, Text: text}
	f.add(i)
	return i
}

func (f *fold) Started(e runlog.Entry, d runlog.Started) error {
	f.Photon, f.Title, f.Surface, f.Durable = d.Photon, d.Title, d.Surface, d.Durable
	f.Run.Started, f.Args, f.Owner = e.Time, d.Args, d.StartedBy()
	f.Owner.ID = callers.OwnerID(f.Owner.ID)
	f.startedBy = f.Owner
	if f.Title == "" {
		f.Title = d.Photon
	}
	f.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Start, Text: d.Surface, Data: d.Args, Large: e.Blob != "", ReplayOf: d.ReplayOf, Fork: d.Fork})
	f.LargeArgs, f.StateChanged = e.Blob != "", true
	return nil
}

// Queued shows as the status in effect for what the run waits before it begins.
func (f *fold) Queued(e runlog.Entry, d runlog.Queued) error {
	i := f.addStatus(e, generators.Info, d.Describe())
	f.openStatus, f.queued, f.StateChanged = i, i, true
	return nil
}

// leaveQueue ends the status that says for what the run waits, and returns its row.
func (f *fold) leaveQueue(at time.Time) *Item {
	i := f.queued
	if i == nil {
		return nil
	}
	f.queued, i.Ended = nil, at
	i.Text = "Waited" + strings.TrimPrefix(i.Text, "Waits")
	f.endIfCurrent(i)
	return i
}

// Claimed shows that a run was resumed. The first claim only shows if the run has
// waited for it.
func (f *fold) Claimed(e runlog.Entry, d runlog.Claimed) error {
	f.setParked(nil)
	f.StateChanged, f.Worker = f.StateChanged || f.Worker != d.Worker, d.Worker
	if i := f.leaveQueue(e.Time); i != nil {
		f.Item, f.StateChanged = i, true
	} else if d.Epoch > 1 {
		f.addStatus(e, generators.Debug, "resumed")
	}
	return nil
}

// Adopted shows that the run has another owner.
func (f *fold) Adopted(e runlog.Entry, d runlog.Adopted) error {
	f.Owner = d.By
	for _, a := range f.Open {
		f.restrict(a)
	}
	f.addStatus(e, generators.Notice, "adopted by "+callers.Describe(d.By.ID, d.By.Name))
	f.StateChanged, f.AsksChanged = true, len(f.Open) > 0
	return nil
}

func (f *fold) Stepped(e runlog.Entry, d runlog.Stepped) error {
	f.recordSpent(d.TimeSpent)
	i := &Item{Seq: e.Seq, Time: e.Time, Kind: Step, Level: generators.Debug, Text: d.Key, Taken: d.Taken, Differs: d.Differs}
	if d.Error != "" {
		i.Level, i.Text = generators.Warning, d.Key+": "+d.Error
	}
	f.add(i)
	return nil
}

// Repeated removes what a step has shown, because it begins again.
func (f *fold) Repeated(e runlog.Entry, d runlog.Repeated) error {
	for _, i := range f.removeStep(d.Key) {
		f.endIfCurrent(i)
	}
	f.addStatus(e, generators.Debug, d.Describe())
	f.Superseded = d.Ordinals()
	return nil
}

// Parked shows why the run can't go on.
func (f *fold) Parked(e runlog.Entry, d runlog.Parked) error {
	f.addStatus(e, generators.Warning, d.Describe())
	f.setParked(&d)
	return nil
}

// setParked sets why the run can't go on, or nil if it can, and who may answer its questions then.
func (f *fold) setParked(p *runlog.Parked) {
	if p == nil && f.parked == nil {
		return
	}
	f.parked = p
	for _, seq := range slices.Sorted(maps.Keys(f.openAsks)) {
		i := f.openAsks[seq]
		f.restrict(i.Ask)
		f.AlsoChanged = append(f.AlsoChanged, i)
	}
	f.updateState()
	f.AsksChanged = len(f.Open) > 0
}

// Sleeping shows a sleep as the status in effect.
func (f *fold) Sleeping(e runlog.Entry, d runlog.Sleeping) error {
	f.recordSpent(d.TimeSpent)
	f.endStatus(e.Time)
	i := f.addStatus(e, generators.Info, d.Describe())
	i.Differs = d.Differs
	f.openStatus, f.sleeping[e.Seq] = i, sleep{i, d.Until}
	f.updateState()
	return nil
}

// Woken ends the status that says that the run sleeps.
func (f *fold) Woken(e runlog.Entry, d runlog.Woken) error {
	s, found := f.sleeping[d.SleepSeq]
	if !found {
		return nil
	}
	delete(f.sleeping, d.SleepSeq)
	f.Item = s.row
	f.Item.Text, f.Item.Ended = "Slept"+strings.TrimPrefix(f.Item.Text, "Sleeps"), e.Time
	f.endIfCurrent(f.Item)
	f.updateState()
	return nil
}

func (f *fold) Finished(e runlog.Entry, d runlog.Finished) error {
	f.State, f.Ended = engine.State(d.Status), e.Time
	if d.Status == "" { // the data is in a blob, which only a large result causes
		f.State = engine.Completed
	}
	f.Result, f.Reason, f.Error, f.Progress = d.Result, d.Reason(), outcome.TextForPeople(&d), nil
	f.recordSpent(d.TimeSpent)
	f.StateChanged, f.ProgressChanged, f.AsksChanged = true, true, len(f.Open) > 0
	if i := f.leaveQueue(e.Time); i != nil {
		f.AlsoChanged = append(f.AlsoChanged, i)
	}
	for _, s := range f.sleeping {
		s.row.Text = "Would have slept" + strings.TrimPrefix(s.row.Text, "Sleeps")
		f.AlsoChanged = append(f.AlsoChanged, s.row)
	}
	clear(f.sleeping)
	for _, a := range slices.Clone(f.Open) {
		_, seq, _ := runlog.SplitAskID(a.ID)
		if i := f.closeAsk(seq); i != nil {
			i.Ask.applyWithdrawal(runlog.Withdrawn{Reason: runlog.RunEnded}, e.Time)
			f.AlsoChanged = append(f.AlsoChanged, i)
		}
	}
	f.endStatus(e.Time)
	f.add(&Item{
		Seq: e.Seq, Time: e.Time, Kind: Result, State: f.State, Reason: f.Reason, Text: f.Error, Data: d.Result, MediaType: d.MediaType,
		Large: e.Blob != "" || d.ResultBlob != "", Size: d.ResultSize, Preview: d.ResultPreview, Panic: d.Panic,
	})
	return nil
}

// endStatus ends the status in effect. Its row changes if its duration is shown.
func (f *fold) endStatus(at time.Time) {
	i := f.openStatus
	if i == nil {
		return
	}
	f.openStatus, i.Ended = nil, at
	if i.Duration() > 0 {
		f.AlsoChanged = append(f.AlsoChanged, i)
	}
}

// updateState sets the run's state after its open questions or sleeps changed.
func (f *fold) updateState() {
	state := engine.Running
	switch {
	case f.State.Ended():
		state = f.State
	case f.parked != nil:
		state = engine.Parked
	case len(f.Open) > 0:
		state = engine.Waiting
	case len(f.sleeping) > 0:
		state = engine.Sleeping
	}
	var wakes time.Time
	for _, s := range f.sleeping {
		if wakes.IsZero() || s.until.Before(wakes) {
			wakes = s.until
		}
	}
	f.StateChanged = state != f.State || !wakes.Equal(f.Wakes)
	f.State, f.Wakes = state, wakes
}
