package timeline

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Change describes what an entry changed. Its items show their state after all
// entries applied since.
type Change struct {
	Seq             uint64   // the entry's ordinal
	Item            *Item    // the row that was added or changed; nil if none was
	Added           bool     // Item is new
	Appended        string   // Item is a chunk, and all that changed is that this text was appended
	ReplyText       string   // text that was appended to a model's reply, which Item is
	AlsoChanged     []*Item  // other rows that changed
	Dropped         uint64   // the ordinal of the row that was dropped; 0 if none was
	Superseded      []uint64 // the ordinals of entries whose rows were removed, because their step is repeated
	StateChanged    bool     // the run's state changed
	ProgressChanged bool
	AsksChanged     bool // a question was opened or closed
}

// appliers maps every kind of entry, and with them every kind of event, to the
// function that folds it into a run. Apply shows entries of any other kind as JSON.
var appliers = map[runlog.Kind]func(*Run, runlog.Entry) Change{
	runlog.KindStarted:   decoded((*Run).applyStarted),
	runlog.KindQueued:    decoded((*Run).applyQueued),
	runlog.KindClaimed:   decoded((*Run).applyClaimed),
	runlog.KindAsked:     decoded((*Run).applyAsked),
	runlog.KindAnswered:  decoded((*Run).applyAnswered),
	runlog.KindWithdrawn: decoded((*Run).applyWithdrawn),
	runlog.KindSleeping:  decoded((*Run).applySleeping),
	runlog.KindWoken:     decoded((*Run).applyWoken),
	runlog.KindStepped:   decoded((*Run).applyStepped),
	runlog.KindRepeated:  decoded((*Run).applyRepeated),
	runlog.KindAdopted:   decoded((*Run).applyAdopted),
	runlog.KindSampling:  decoded((*Run).applySampling),
	runlog.KindFinished:  decoded((*Run).applyFinished),
	"status":             decoded((*Run).applyStatus),
	"progress":           decoded((*Run).applyProgress),
	"log":                decoded((*Run).applyLog),
	"chunk":              decoded((*Run).applyChunk),
	"toast":              decoded((*Run).applyToast),
	"artifact":           decoded((*Run).applyArtifact),
	"result":             (*Run).applyUnknown, // a log records a result as KindFinished
}

// Apply folds the next entry of the log. It ignores entries that were applied before
// and those of a known kind that it can't decode.
func (r *Run) Apply(e runlog.Entry) Change {
	if e.Seq <= r.LastSeq {
		return Change{Seq: e.Seq}
	}
	r.LastSeq = e.Seq
	if e.Kind.IsEvent() {
		r.Events++
	}
	full := r.isProgressComplete(e)
	apply, ok := appliers[e.Kind]
	if !ok {
		apply = (*Run).applyUnknown
	}
	c := apply(r, e)
	c.Seq = e.Seq
	if c.Added {
		c.Item.goroutine, c.Item.step = e.Goroutine, e.Step
	}
	if full {
		r.Progress, c.ProgressChanged = nil, true
	}
	return c
}

// isProgressComplete reports whether the progress was complete before e. Complete
// progress is hidden as soon as any other entry follows.
func (r *Run) isProgressComplete(e runlog.Entry) bool {
	return r.Progress != nil && r.Progress.Total > 0 && r.Progress.Done >= r.Progress.Total && e.Kind != "progress"
}

// decoded adapts a fold over an entry's decoded data.
func decoded[T any](fold func(*Run, runlog.Entry, T) Change) func(*Run, runlog.Entry) Change {
	return func(r *Run, e runlog.Entry) Change {
		var data T
		if len(e.Data) > 0 && json.Unmarshal(e.Data, &data) != nil {
			return Change{}
		}
		return fold(r, e, data)
	}
}

// applyUnknown shows an entry of an unknown kind as JSON.
func (r *Run) applyUnknown(e runlog.Entry) Change {
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Unknown, Text: string(e.Kind), Data: e.Data, Large: e.Blob != ""})
}

func (r *Run) applyStarted(e runlog.Entry, d runlog.Started) Change {
	r.Photon, r.Title, r.Surface, r.Durable = d.Photon, d.Title, d.Surface, d.Durable
	r.Started, r.Args, r.Owner = e.Time, d.Args, d.StartedBy()
	r.Owner.ID = callers.OwnerID(r.Owner.ID)
	r.startedBy = r.Owner
	if r.Title == "" {
		r.Title = d.Photon
	}
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Start, Text: d.Surface, Data: d.Args, Large: e.Blob != "", ReplayOf: d.ReplayOf})
	r.LargeArgs = e.Blob != ""
	c.StateChanged = true
	return c
}

// applyQueued shows as the status in effect for what the run waits before it begins.
func (r *Run) applyQueued(e runlog.Entry, d runlog.Queued) Change {
	i := &Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Info, Text: d.Describe()}
	r.openStatus, r.queued = i, i
	c := r.addItem(i)
	c.StateChanged = true
	return c
}

// leaveQueue ends the status that says for what the run waits, and returns its row.
func (r *Run) leaveQueue(at time.Time) *Item {
	i := r.queued
	if i == nil {
		return nil
	}
	r.queued, i.Ended = nil, at
	if i.Text = "Waited" + strings.TrimPrefix(i.Text, "Waits"); r.openStatus == i {
		r.openStatus = nil
	}
	return i
}

// applyClaimed shows that a run was resumed. The first claim only shows if the run has
// waited for it.
func (r *Run) applyClaimed(e runlog.Entry, d runlog.Claimed) Change {
	if i := r.leaveQueue(e.Time); i != nil {
		return Change{Item: i, StateChanged: true}
	}
	if d.Epoch <= 1 {
		return Change{}
	}
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Debug, Text: "resumed"})
}

// applyAdopted shows that the run has another owner.
func (r *Run) applyAdopted(e runlog.Entry, d runlog.Adopted) Change {
	r.Owner = d.By
	for _, a := range r.Open {
		r.restrict(a)
	}
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Notice, Text: "adopted by " + callers.Describe(d.By.ID, d.By.Name)})
	c.StateChanged, c.AsksChanged = true, len(r.Open) > 0
	return c
}

func (r *Run) applyStepped(e runlog.Entry, d runlog.Stepped) Change {
	r.recordSpent(d.TimeSpent)
	i := &Item{Seq: e.Seq, Time: e.Time, Kind: Step, Level: generators.Debug, Text: d.Key}
	if d.Error != "" {
		i.Level, i.Text = generators.Warning, d.Key+": "+d.Error
	}
	return r.addItem(i)
}

func (r *Run) applyFinished(e runlog.Entry, d runlog.Finished) Change {
	r.State, r.Ended = engine.State(d.Status), e.Time
	if d.Status == "" { // the data is in a blob, which only a large result causes
		r.State = engine.Completed
	}
	r.Result, r.Reason, r.Error, r.Progress = d.Result, d.Reason(), outcome.TextForPeople(&d), nil
	r.recordSpent(d.TimeSpent)
	asked := len(r.Open) > 0
	var also []*Item
	if i := r.leaveQueue(e.Time); i != nil {
		also = append(also, i)
	}
	for _, s := range r.sleeping {
		s.row.Text = "Would have slept" + strings.TrimPrefix(s.row.Text, "Sleeps")
		also = append(also, s.row)
	}
	clear(r.sleeping)
	for _, a := range slices.Clone(r.Open) {
		if _, seq, ok := runlog.SplitAskID(a.ID); ok {
			if i := r.closeAsk(seq); i != nil {
				i.Ask.applyWithdrawal(runlog.Withdrawn{Reason: runlog.RunEnded}, e.Time)
				also = append(also, i)
			}
		}
	}
	also = append(also, r.endStatus(e.Time)...)
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Result, State: r.State, Reason: r.Reason, Text: r.Error, Data: d.Result, MediaType: d.MediaType, Large: e.Blob != "" || d.ResultBlob != "", Size: d.ResultSize, Preview: d.ResultPreview, Panic: d.Panic})
	c.StateChanged, c.ProgressChanged, c.AsksChanged, c.AlsoChanged = true, true, asked, also
	return c
}

func (r *Run) recordSpent(d ask.Millis) { r.Spent = max(r.Spent, time.Duration(d)) }

func (r *Run) applyStatus(e runlog.Entry, d generators.StatusEvent) Change {
	if i := r.latest; i != nil && i.Kind == Status && i.Text == d.Text && i.Level == d.Level && i.continues(e) {
		i.Count = max(i.Count, 1) + 1
		return Change{Item: i}
	}
	ended := r.endStatus(e.Time)
	r.openStatus = &Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: d.Level, Text: d.Text}
	c := r.addItem(r.openStatus)
	c.AlsoChanged = ended
	return c
}

// applySleeping shows a sleep as the status in effect.
func (r *Run) applySleeping(e runlog.Entry, d runlog.Sleeping) Change {
	r.recordSpent(d.TimeSpent)
	ended := r.endStatus(e.Time)
	i := &Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Info, Text: d.Describe()}
	r.openStatus, r.sleeping[e.Seq] = i, sleep{i, d.Until}
	c := r.addItem(i)
	c.AlsoChanged = ended
	return r.updateState(c)
}

// applyWoken ends the status that says that the run sleeps.
func (r *Run) applyWoken(e runlog.Entry, d runlog.Woken) Change {
	s, found := r.sleeping[d.SleepSeq]
	if !found {
		return Change{}
	}
	delete(r.sleeping, d.SleepSeq)
	i := s.row
	i.Text = "Slept" + strings.TrimPrefix(i.Text, "Sleeps")
	if i.Ended = e.Time; r.openStatus == i {
		r.openStatus = nil
	}
	return r.updateState(Change{Item: i})
}

// applyRepeated removes what a step has shown, because it begins again.
func (r *Run) applyRepeated(e runlog.Entry, d runlog.Repeated) Change {
	r.Items = slices.DeleteFunc(r.Items, func(i *Item) bool {
		if i.step != d.Key {
			return false
		}
		r.remove(i)
		return true
	})
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Debug, Text: d.Describe()})
	c.Superseded = d.Ordinals()
	return c
}

// endStatus ends the status in effect and returns its row if its duration is shown.
func (r *Run) endStatus(at time.Time) []*Item {
	i := r.openStatus
	if i == nil {
		return nil
	}
	r.openStatus, i.Ended = nil, at
	if i.Duration() == 0 {
		return nil
	}
	return []*Item{i}
}

func (r *Run) applyProgress(e runlog.Entry, d generators.ProgressEvent) Change {
	r.Progress = &Progress{Done: d.Done, Total: d.Total, Text: d.Text, Updated: e.Time}
	return Change{ProgressChanged: true}
}

func (r *Run) applyLog(e runlog.Entry, d struct {
	Level  generators.Level `json:"level"`
	Logger string           `json:"logger"`
	Data   json.RawMessage  `json:"data"`
}) Change {
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Log, Level: d.Level, Logger: d.Logger, Data: d.Data})
}

func (r *Run) applyChunk(e runlog.Entry, d generators.ChunkEvent) Change {
	var c Change
	if r.latest != nil && r.latest.Kind == Chunk && r.latest.continues(e) {
		c = Change{Item: r.latest, Appended: appendable(r.latest.text, d.Text)}
	} else {
		c = r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Chunk})
	}
	if c.AlsoChanged = r.appendChunkText(c.Item, d.Text); slices.Contains(c.AlsoChanged, c.Item) {
		c.Appended = "" // its beginning was cut
	}
	return c
}

func (r *Run) applyToast(e runlog.Entry, d generators.ToastEvent) Change {
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Toast, Level: d.Level, Text: d.Text})
}

func (r *Run) applyArtifact(e runlog.Entry, d generators.Artifact) Change {
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Artifact, Artifact: &d, Large: e.Blob != ""})
	if !c.Item.unlisted {
		r.limitBody(&d)
	}
	return c
}
