package timeline

import (
	"encoding/json"

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

// Apply folds the next entry of the log. It ignores entries that were applied before
// and those of a known kind that it can't decode.
func (r *Run) Apply(e runlog.Entry) Change {
	if e.Seq <= r.LastSeq {
		return Change{Seq: e.Seq}
	}
	r.LastSeq = e.Seq
	if e.Kind.IsEvent() {
		r.Events++
	} else if len(e.Data) == 0 { // it is in a blob
		e.Data = json.RawMessage("{}")
	}
	full := r.isProgressComplete(e)
	f := &r.fold // which is kept, since one for each entry would have to be allocated
	f.Run, f.Change = r, Change{}
	if e.Visit(f) != nil {
		f.Change = Change{}
	}
	f.Seq = e.Seq
	if f.Added {
		f.Item.goroutine, f.Item.step = e.Goroutine, e.Step
	}
	if full {
		r.Progress, f.ProgressChanged = nil, true
	}
	c := f.Change
	f.Change = Change{} // so that it doesn't keep what is dropped
	return c
}

// isProgressComplete reports whether the progress was complete before e. Complete
// progress is hidden as soon as any other entry follows.
func (r *Run) isProgressComplete(e runlog.Entry) bool {
	return r.Progress != nil && r.Progress.Total > 0 && r.Progress.Done >= r.Progress.Total && e.Kind != "progress"
}
