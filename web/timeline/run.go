package timeline

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// Run is what a page shows of a run. It is for one goroutine at a time.
type Run struct {
	ID           string
	Photon       string
	Title        string
	Surface      string // where it was started
	Durable      bool
	State        engine.State
	Started      time.Time
	Ended        time.Time // zero until it has
	Args         json.RawMessage
	Items        []*Item   // in the order of their first entries
	DroppedItems int       // how many items are not kept
	Events       int       // how many events there were
	Progress     *Progress // the latest; nil if there is none or the run has ended
	Open         []*Ask    // questions that wait, oldest first
	Result       json.RawMessage
	Error        string
	Spent        time.Duration // how long it worked, as far as the log says
	LastSeq      uint64        // the ordinal of the newest entry

	openAsks       map[uint64]*Item // open questions by ordinal
	openStatus     *Item            // the status that goes on; nil if none does
	droppableCount int              // items that may be dropped
	artifactCount  int
	bodyBytes      int // bytes
	chunkBytes     int // bytes
	firstDroppable int // no plain item stands before this index
	firstArtifact  int
}

// New returns a run of which nothing is known yet but its id.
func New(id string) *Run {
	return &Run{ID: id, State: engine.Running, openAsks: make(map[uint64]*Item)}
}

// ShortID is the beginning of the id, for people.
func (r *Run) ShortID() string { return ShortID(r.ID) }

// ShortID is the beginning of a run's id, for people.
func ShortID(id string) string { return id[:min(4, len(id))] }

// A Change says what an entry changed. Its item shows the state after all that
// was applied since.
type Change struct {
	Seq             uint64  // the entry's ordinal
	Item            *Item   // the row that was added or changed; nil if none was
	Added           bool    // Item is new
	Appended        string  // Item is a chunk and grew by this, and changed in nothing else
	AlsoChanged     []*Item // other rows that changed
	Dropped         uint64  // the ordinal of the row that is not kept any more; 0 if there is none
	StateChanged    bool    // the run's state changed
	ProgressChanged bool
	AsksChanged     bool // a question was opened or settled
}

// Apply folds the next entry of the log. Entries that were applied before, and
// those that can't be read, change nothing.
func (r *Run) Apply(e runlog.Entry) Change {
	if e.Seq <= r.LastSeq {
		return Change{Seq: e.Seq}
	}
	r.LastSeq = e.Seq
	if e.Kind.IsEvent() {
		r.Events++
	}
	full := r.isProgressComplete(e)
	c := r.applyEntry(e)
	c.Seq = e.Seq
	if full {
		r.Progress, c.ProgressChanged = nil, true
	}
	return c
}

// isProgressComplete tells whether what the progress tells was done before this entry: it
// leaves as soon as anything else comes.
func (r *Run) isProgressComplete(e runlog.Entry) bool {
	return r.Progress != nil && r.Progress.Total > 0 && r.Progress.Done >= r.Progress.Total && e.Kind != "progress"
}

func (r *Run) applyEntry(e runlog.Entry) Change {
	switch e.Kind {
	case runlog.KindStarted:
		return applyDecoded(r, e, (*Run).applyStarted)
	case runlog.KindClaimed:
		return applyDecoded(r, e, (*Run).applyClaimed)
	case runlog.KindAsked:
		return applyDecoded(r, e, (*Run).applyAsked)
	case runlog.KindAnswered:
		return applyDecoded(r, e, (*Run).applyAnswered)
	case runlog.KindWithdrawn:
		return applyDecoded(r, e, (*Run).applyWithdrawn)
	case runlog.KindStepped:
		return applyDecoded(r, e, (*Run).applyStepped)
	case runlog.KindFinished:
		return applyDecoded(r, e, (*Run).applyFinished)
	case "status":
		return applyDecoded(r, e, (*Run).applyStatus)
	case "progress":
		return applyDecoded(r, e, (*Run).applyProgress)
	case "log":
		return applyDecoded(r, e, (*Run).applyLog)
	case "chunk":
		return applyDecoded(r, e, (*Run).applyChunk)
	case "toast":
		return applyDecoded(r, e, (*Run).applyToast)
	case "artifact":
		return applyDecoded(r, e, (*Run).applyArtifact)
	}
	return Change{}
}

// applyDecoded reads an entry's data and hands it to fold.
func applyDecoded[T any](r *Run, e runlog.Entry, fold func(*Run, runlog.Entry, T) Change) Change {
	var data T
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &data) != nil {
		return Change{}
	}
	return fold(r, e, data)
}

func (r *Run) applyStarted(e runlog.Entry, d runlog.Started) Change {
	r.Photon, r.Title, r.Surface, r.Durable = d.Photon, d.Title, d.Surface, d.Durable
	r.Started, r.Args = e.Time, d.Args
	if r.Title == "" {
		r.Title = d.Photon
	}
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Start, Text: d.Surface, Data: d.Args, Large: e.Blob != ""})
	c.StateChanged = true
	return c
}

// applyClaimed shows that a run was taken up again; its first claim is nothing to
// speak of.
func (r *Run) applyClaimed(e runlog.Entry, d runlog.Claimed) Change {
	if d.Epoch <= 1 {
		return Change{}
	}
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Debug, Text: "taken up again"})
}

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
	i.Ask.applyAnswer(d, e.Time)
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

// closeAsk takes a question off the open ones; nil if it is not among them.
func (r *Run) closeAsk(seq uint64) *Item {
	i := r.openAsks[seq]
	if i == nil {
		return nil
	}
	delete(r.openAsks, seq)
	r.Open = slices.DeleteFunc(r.Open, func(a *Ask) bool { return a == i.Ask })
	return i
}

// updateState sees to the run's state after its open questions changed.
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
	if d.Status == "" { // its data is elsewhere, which only a result can be the cause of
		r.State = engine.Completed
	}
	r.Result, r.Error, r.Progress = d.Result, d.Error, nil
	r.recordSpent(d.TimeSpent)
	var also []*Item
	for _, a := range slices.Clone(r.Open) {
		if _, seq, ok := runlog.SplitAskID(a.ID); ok {
			if i := r.closeAsk(seq); i != nil {
				i.Ask.applyWithdrawal(runlog.Withdrawn{Reason: runlog.RunEnded}, e.Time)
				also = append(also, i)
			}
		}
	}
	asked := len(also) > 0
	also = append(also, r.endStatus(e.Time)...)
	c := r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Result, State: r.State, Text: d.Error, Data: d.Result, Large: e.Blob != ""})
	c.StateChanged, c.ProgressChanged, c.AsksChanged, c.AlsoChanged = true, true, asked, also
	return c
}

func (r *Run) recordSpent(d ask.Millis) { r.Spent = max(r.Spent, time.Duration(d)) }

func (r *Run) applyStatus(e runlog.Entry, d generators.StatusEvent) Change {
	if n := len(r.Items); n > 0 {
		if i := r.Items[n-1]; i.Kind == Status && i.Text == d.Text && i.Level == d.Level {
			i.Count = max(i.Count, 1) + 1
			return Change{Item: i}
		}
	}
	ended := r.endStatus(e.Time)
	r.openStatus = &Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: d.Level, Text: d.Text}
	c := r.addItem(r.openStatus)
	c.AlsoChanged = ended
	return c
}

// endStatus ends what the latest status said, and returns its row if that shows.
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

// AnsweredAsks are the questions that were answered, in the order in which they
// were asked.
func (r *Run) AnsweredAsks() []*Ask {
	var list []*Ask
	for _, i := range r.Items {
		if i.Kind == Asked && i.Ask.State == Answered {
			list = append(list, i.Ask)
		}
	}
	return list
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
	if n := len(r.Items); n > 0 && r.Items[n-1].Kind == Chunk {
		c = Change{Item: r.Items[n-1], Appended: d.Text}
	} else {
		c = r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Chunk})
	}
	if c.AlsoChanged = r.appendChunkText(c.Item, d.Text); slices.Contains(c.AlsoChanged, c.Item) {
		c.Appended = "" // it lost its beginning
	}
	return c
}

func (r *Run) applyToast(e runlog.Entry, d generators.ToastEvent) Change {
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Toast, Level: d.Level, Text: d.Text})
}

func (r *Run) applyArtifact(e runlog.Entry, d generators.Artifact) Change {
	r.limitBody(&d)
	return r.addItem(&Item{Seq: e.Seq, Time: e.Time, Kind: Artifact, Artifact: &d, Large: e.Blob != ""})
}
