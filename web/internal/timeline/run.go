// Package timeline folds a run's log into what a page shows of it. It knows no
// HTML: package ui renders it.
//
// It keeps a bounded amount, whatever a photon emits, and counts what it drops.
package timeline

import (
	"encoding/json"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Run is what a page shows of a run. It is not safe for concurrent use.
type Run struct {
	ID        string
	Photon    string
	Title     string
	Surface   string // where the run was started
	Durable   bool
	State     engine.State
	Reason    runlog.UnansweredReason // of an unanswered run
	Started   time.Time
	Ended     time.Time // zero until the run ends
	Args      json.RawMessage
	LargeArgs bool     // the arguments are too large to be in Args
	Forks     []string // the runs that were forked from it; see engine.Info
	Rows
	Events   int       // how many events the run emitted
	Progress *Progress // the latest; nil if there is none or the run has ended
	Open     []*Ask    // open questions, oldest first
	Result   json.RawMessage
	Error    string        // why the run has no result
	Spent    time.Duration // how long the run worked, according to the log
	LastSeq  uint64        // the ordinal of the newest entry
	Wakes    time.Time     // when the first of the sleeps in progress ends; zero if there is none
	Owner    generators.Caller
	Viewer   generators.Caller // who looks at the page; New doesn't set it
	Upstream string            // the MCP server whose tool the run calls; New doesn't set it
	// Worker is the process that claimed the run last, and Holder describes it, for operators; nil if it
	// isn't to be shown. New doesn't set Holder.
	Worker string
	Holder func(worker string) *sharing.Holder
	// Models are the configured models; nil if there are none. New doesn't set it.
	Models *llm.Models

	// Unanswerable reports whether nobody may answer an open question; it may be nil. New
	// doesn't set it.
	Unanswerable func(askID string) bool

	fold      fold
	startedBy generators.Caller
	latest    *Item // listed or not; nil if there is none

	openAsks   map[uint64]*Item // open questions by ordinal
	openStatus *Item            // the status still in effect; nil if none is
	sleeping   map[uint64]sleep // sleeps in progress by ordinal
	parked     *runlog.Parked   // why the run can't go on; nil if it can
	queued     *Item            // says for what the run waits before it begins; nil if it doesn't wait
}

// A sleep is one that has not ended.
type sleep struct {
	row   *Item
	until time.Time
}

// New returns an empty run with the given id.
func New(id string) *Run {
	return &Run{ID: id, State: engine.Running, openAsks: make(map[uint64]*Item), sleeping: make(map[uint64]sleep)}
}

// Queued reports whether the run waits for another one with its key before it begins.
func (r *Run) Queued() bool { return r.queued != nil }

// ShortID returns the beginning of the run's id, for display.
func (r *Run) ShortID() string { return ShortID(r.ID) }

// ShortID returns the beginning of a run's id, for display.
func ShortID(id string) string { return id[:min(4, len(id))] }

// OthersName returns what people call the run's owner, if that isn't the viewer, and
// otherwise "".
func (r *Run) OthersName() string {
	if r.Owner.ID == r.Viewer.ID {
		return ""
	}
	return callers.Describe(r.Owner.ID, r.Owner.Name)
}

// HeldBy returns the process that holds the run; nil if that isn't to be shown.
func (r *Run) HeldBy() *sharing.Holder {
	if r.Holder == nil || r.State.Ended() {
		return nil
	}
	return r.Holder(r.Worker)
}

// CanAdopt reports whether the viewer may become the run's owner.
func (r *Run) CanAdopt() bool {
	return !r.State.Ended() && r.Owner.ID != r.Viewer.ID && r.Viewer.HasRole(generators.RoleOperator)
}

// AnsweredAsks returns the answered questions in the order in which they were asked.
func (r *Run) AnsweredAsks() []*Ask {
	var list []*Ask
	for _, i := range r.Items {
		if i.Kind == Asked && i.Ask.State == Answered {
			list = append(list, i.Ask)
		}
	}
	return list
}

// Ask returns the run's question with the given id, open or not; nil if there is none.
func (r *Run) Ask(id string) *Ask {
	for _, i := range r.Items {
		if i.Kind == Asked && i.Ask.ID == id {
			return i.Ask
		}
	}
	return nil
}

// restrict sets who may answer a question, and whether the viewer may not.
func (r *Run) restrict(a *Ask) {
	a.For, a.Excluded, a.OpenAsk.Unanswerable, a.Parked = "", false, false, nil
	switch who := audience.Of(a.Question); {
	case who != nil:
		a.For, a.Excluded = who.String(), !who.Admits(r.Viewer, audience.Starter(r.startedBy), true)
		a.OpenAsk.Unanswerable = r.Unanswerable != nil && r.Unanswerable(a.ID)
	case audience.ReservesForOwner(a.Question, r.Viewer, r.Owner):
		a.For, a.Excluded = callers.Describe(r.Owner.ID, r.Owner.Name), true
	}
	a.OpenAsk.SetParked(r.parked)
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

// tenthsSinceStart returns how many tenths of a second into the run t is.
func (r *Run) tenthsSinceStart(t time.Time) int64 {
	return int64(t.Sub(r.Started).Round(100*time.Millisecond) / (100 * time.Millisecond))
}

func (r *Run) recordSpent(d askdata.Millis) { r.Spent = max(r.Spent, time.Duration(d)) }
