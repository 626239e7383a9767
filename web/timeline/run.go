package timeline

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// Run is what a page shows of a run. It is for one goroutine at a time.
type Run struct {
	ID       string
	Photon   string
	Title    string
	Surface  string // where it was started
	Durable  bool
	State    run.State
	Started  time.Time
	Ended    time.Time // zero until it has
	Args     json.RawMessage
	Items    []*Item   // in the order of their first entries
	Hidden   int       // how many items are not kept
	Events   int       // how many events there were
	Progress *Progress // the latest; nil if there is none or the run has ended
	Open     []*Ask    // questions that wait, oldest first
	Result   json.RawMessage
	Error    string
	Spent    time.Duration // how long it worked, as far as the log says
	Last     uint64        // the ordinal of the newest entry

	asks        map[uint64]*Item // open questions by ordinal
	phase       *Item            // the status that goes on; nil if none does
	plain       int              // items that may be dropped
	artifacts   int
	bodies      int // bytes
	chunked     int // bytes
	oldPlain    int // no plain item stands before this index
	oldArtifact int
}

// New returns a run of which nothing is known yet but its id.
func New(id string) *Run {
	return &Run{ID: id, State: run.Running, asks: make(map[uint64]*Item)}
}

// Short is the beginning of the id, for people.
func (r *Run) Short() string { return Short(r.ID) }

// Short is the beginning of a run's id, for people.
func Short(id string) string { return id[:min(4, len(id))] }

// A Change says what an entry changed. Its item shows the state after all that
// was applied since.
type Change struct {
	Seq      uint64  // the entry's ordinal
	Item     *Item   // the row that was added or changed; nil if none was
	Added    bool    // Item is new
	Appended string  // Item is a chunk and grew by this, and changed in nothing else
	Also     []*Item // other rows that changed
	Dropped  uint64  // the ordinal of the row that is not kept any more; 0 if there is none
	Head     bool    // the run's state changed
	Progress bool
	Asks     bool // a question was opened or settled
}

// Apply folds the next entry of the log. Entries that were applied before, and
// those that can't be read, change nothing.
func (r *Run) Apply(e log.Entry) Change {
	if e.Seq <= r.Last {
		return Change{Seq: e.Seq}
	}
	r.Last = e.Seq
	if e.Kind.IsEvent() {
		r.Events++
	}
	full := r.full(e)
	c := r.apply(e)
	c.Seq = e.Seq
	if full {
		r.Progress, c.Progress = nil, true
	}
	return c
}

// full tells whether what the progress tells was done before this entry: it
// leaves as soon as anything else comes.
func (r *Run) full(e log.Entry) bool {
	return r.Progress != nil && r.Progress.Total > 0 && r.Progress.Done >= r.Progress.Total && e.Kind != "progress"
}

func (r *Run) apply(e log.Entry) Change {
	switch e.Kind {
	case log.KindStarted:
		return decoded(r, e, (*Run).started)
	case log.KindClaimed:
		return decoded(r, e, (*Run).claimed)
	case log.KindAsked:
		return decoded(r, e, (*Run).asked)
	case log.KindAnswered:
		return decoded(r, e, (*Run).answered)
	case log.KindWithdrawn:
		return decoded(r, e, (*Run).withdrawn)
	case log.KindStepped:
		return decoded(r, e, (*Run).stepped)
	case log.KindFinished:
		return decoded(r, e, (*Run).finished)
	case "status":
		return decoded(r, e, (*Run).status)
	case "progress":
		return decoded(r, e, (*Run).progress)
	case "log":
		return decoded(r, e, (*Run).logged)
	case "chunk":
		return decoded(r, e, (*Run).chunk)
	case "toast":
		return decoded(r, e, (*Run).toast)
	case "artifact":
		return decoded(r, e, (*Run).artifact)
	}
	return Change{}
}

// decoded reads an entry's data and hands it to fold.
func decoded[T any](r *Run, e log.Entry, fold func(*Run, log.Entry, T) Change) Change {
	var data T
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &data) != nil {
		return Change{}
	}
	return fold(r, e, data)
}

func (r *Run) started(e log.Entry, d log.Started) Change {
	r.Photon, r.Title, r.Surface, r.Durable = d.Photon, d.Title, d.Surface, d.Durable
	r.Started, r.Args = e.Time, d.Args
	if r.Title == "" {
		r.Title = d.Photon
	}
	c := r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Start, Text: d.Surface, Data: d.Args, Large: e.Blob != ""})
	c.Head = true
	return c
}

// claimed shows that a run was taken up again; its first claim is nothing to
// speak of.
func (r *Run) claimed(e log.Entry, d log.Claimed) Change {
	if d.Epoch <= 1 {
		return Change{}
	}
	return r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: generators.Debug, Text: "taken up again"})
}

func (r *Run) asked(e log.Entry, d log.Asked) Change {
	if d.Question == nil {
		return Change{}
	}
	a := &Ask{State: Open, Open: run.Open{
		ID: log.AskID(r.ID, e.Seq), Run: r.ID, Photon: r.Photon, Title: r.Title, Since: e.Time, Asked: d,
	}}
	r.Open = append(r.Open, a)
	r.spent(d.Spent)
	ended := r.endPhase(e.Time)
	c := r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Asked, Ask: a})
	c.Also = ended
	r.asks[e.Seq] = c.Item
	return r.settled(c)
}

func (r *Run) answered(e log.Entry, d log.Answered) Change {
	i := r.close(d.Ask)
	if i == nil {
		return Change{}
	}
	i.Ask.settle(d, e.Time)
	return r.settled(Change{Item: i})
}

func (r *Run) withdrawn(e log.Entry, d log.Withdrawn) Change {
	i := r.close(d.Ask)
	if i == nil {
		return Change{}
	}
	i.Ask.withdraw(d, e.Time)
	return r.settled(Change{Item: i})
}

// close takes a question off the open ones; nil if it is not among them.
func (r *Run) close(seq uint64) *Item {
	i := r.asks[seq]
	if i == nil {
		return nil
	}
	delete(r.asks, seq)
	r.Open = slices.DeleteFunc(r.Open, func(a *Ask) bool { return a == i.Ask })
	return i
}

// settled sees to the run's state after its open questions changed.
func (r *Run) settled(c Change) Change {
	c.Asks = true
	state := run.Running
	if len(r.Open) > 0 {
		state = run.Waiting
	}
	if r.State.Ended() {
		state = r.State
	}
	c.Head = state != r.State
	r.State = state
	return c
}

func (r *Run) stepped(e log.Entry, d log.Stepped) Change {
	r.spent(d.Spent)
	i := &Item{Seq: e.Seq, Time: e.Time, Kind: Step, Level: generators.Debug, Text: d.Key}
	if d.Error != "" {
		i.Level, i.Text = generators.Warning, d.Key+": "+d.Error
	}
	return r.add(i)
}

func (r *Run) finished(e log.Entry, d log.Finished) Change {
	r.State, r.Ended = run.State(d.Status), e.Time
	if d.Status == "" { // its data is elsewhere, which only a result can be the cause of
		r.State = run.Completed
	}
	r.Result, r.Error, r.Progress = d.Result, d.Error, nil
	r.spent(d.Spent)
	var also []*Item
	for _, a := range slices.Clone(r.Open) {
		if _, seq, ok := log.SplitAskID(a.ID); ok {
			if i := r.close(seq); i != nil {
				i.Ask.withdraw(log.Withdrawn{Reason: log.RunEnded}, e.Time)
				also = append(also, i)
			}
		}
	}
	asked := len(also) > 0
	also = append(also, r.endPhase(e.Time)...)
	c := r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Result, State: r.State, Text: d.Error, Data: d.Result, Large: e.Blob != ""})
	c.Head, c.Progress, c.Asks, c.Also = true, true, asked, also
	return c
}

func (r *Run) spent(d ask.Millis) { r.Spent = max(r.Spent, time.Duration(d)) }

func (r *Run) status(e log.Entry, d generators.StatusEvent) Change {
	if n := len(r.Items); n > 0 {
		if i := r.Items[n-1]; i.Kind == Status && i.Text == d.Text && i.Level == d.Level {
			i.Count = max(i.Count, 1) + 1
			return Change{Item: i}
		}
	}
	ended := r.endPhase(e.Time)
	r.phase = &Item{Seq: e.Seq, Time: e.Time, Kind: Status, Level: d.Level, Text: d.Text}
	c := r.add(r.phase)
	c.Also = ended
	return c
}

// endPhase ends what the latest status said, and returns its row if that shows.
func (r *Run) endPhase(at time.Time) []*Item {
	i := r.phase
	if i == nil {
		return nil
	}
	r.phase, i.Until = nil, at
	if i.Lasted() == 0 {
		return nil
	}
	return []*Item{i}
}

// Answered are the questions that were answered, in the order in which they
// were asked.
func (r *Run) Answered() []*Ask {
	var list []*Ask
	for _, i := range r.Items {
		if i.Kind == Asked && i.Ask.State == Answered {
			list = append(list, i.Ask)
		}
	}
	return list
}

func (r *Run) progress(e log.Entry, d generators.ProgressEvent) Change {
	r.Progress = &Progress{Done: d.Done, Total: d.Total, Text: d.Text, Time: e.Time}
	return Change{Progress: true}
}

func (r *Run) logged(e log.Entry, d struct {
	Level  generators.Level `json:"level"`
	Logger string           `json:"logger"`
	Data   json.RawMessage  `json:"data"`
}) Change {
	return r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Log, Level: d.Level, Logger: d.Logger, Data: d.Data})
}

func (r *Run) chunk(e log.Entry, d generators.ChunkEvent) Change {
	var c Change
	if n := len(r.Items); n > 0 && r.Items[n-1].Kind == Chunk {
		c = Change{Item: r.Items[n-1], Appended: d.Text}
	} else {
		c = r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Chunk})
	}
	if c.Also = r.grow(c.Item, d.Text); slices.Contains(c.Also, c.Item) {
		c.Appended = "" // it lost its beginning
	}
	return c
}

func (r *Run) toast(e log.Entry, d generators.ToastEvent) Change {
	return r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Toast, Level: d.Level, Text: d.Text})
}

func (r *Run) artifact(e log.Entry, d generators.Artifact) Change {
	r.admit(&d)
	return r.add(&Item{Seq: e.Seq, Time: e.Time, Kind: Artifact, Artifact: &d, Large: e.Blob != ""})
}
