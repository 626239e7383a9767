// Package runstate holds what a run's entries, in their order, say about the run: its state,
// its open questions, its sleeps. It has no locks and does no I/O.
package runstate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/audience"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/outcome"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Run is what the entries of a run have led to. The zero value is a run without entries.
type Run struct {
	// Start is the run's first entry without the arguments, and StartedAt its time, without
	// a monotonic reading, because lists sort by it.
	Start     runlog.Started
	StartedAt time.Time
	// Adopter is the owner if that isn't who started the run.
	Adopter *generators.Caller

	Last   uint64 // the ordinal of the last entry
	Events int    // how many entries are events
	Bytes  int64  // of the entries' data

	State     State
	ChangedAt time.Time // when State changed last
	EndedAt   time.Time
	Reason    runlog.UnansweredReason // why an unanswered run has no answer
	Error     string                  // why a run that has ended has no result, for people

	// Status is the latest status that the generator reported, truncated to MaxStatusBytes,
	// and End how the run ended, without the result; nil for a run that hasn't ended.
	Status string
	End    *runlog.Finished

	Asks   []*Ask   // the open questions, oldest first
	Sleeps []*Sleep // in progress, in the order in which they began
	// Queued means that the run hasn't begun, because it waits for another one with its key.
	Queued bool
	// Epoch, Program and Worker are those of the latest claim.
	Epoch   int
	Program string
	Worker  string
	// Parked says why the run can't go on; nil if it can.
	Parked *runlog.Parked
	// TimeSpent is how long the run had worked when that was recorded last.
	TimeSpent time.Duration
	// HasNewEvents reports whether the run has gone on since its last call: it has yielded
	// something, or a call was settled, or its question is to be answered as in an earlier run.
	HasNewEvents bool
	// Repeated has, by their keys, the ordinals at which steps began again.
	Repeated map[string]uint64
	// Attempts are those that have yielded events at steps without an outcome, by the steps' keys.
	Attempts map[string]*Attempt
}

// An Attempt is the latest one at a step.
type Attempt struct {
	Goroutine string
	Events    [][2]uint64 // see runlog.Repeated
}

// An Ask is an open question.
type Ask struct {
	Seq      uint64    // the ordinal of its entry
	AskedAt  time.Time // without a monotonic reading
	Deadline time.Time // zero if it doesn't expire
	// Audience says who may answer; nil if that is whoever may use the run. It doesn't change.
	Audience *audience.Audience
	// Call is the number of the latest call of a model, and Calling means that it has not ended.
	Call    int
	Calling bool
	// Version is the ordinal of the latest approval's entry if that changed the request.
	Version uint64
	// Revised is then the message of the changed request's question; otherwise empty.
	Revised string
}

// A Sleep is a sleep in progress.
type Sleep struct {
	Seq   uint64 // the ordinal of its entry
	Until time.Time
}

// A Change is what an entry changed.
type Change struct {
	From State // before the entry
	// Opened is the question that it opened, and Settled the one that it settled; nil for none.
	Opened, Settled *Ask
	// FellAsleep is the sleep that it began, and Woke the one that it ended; nil for none.
	FellAsleep, Woke *Sleep
	// LeftQueue means that the run no longer waits for another one with its key.
	LeftQueue bool
	// Superseded means that the entry claims the run for a worker with a higher epoch.
	Superseded bool
}

// Begin applies the data of the first entry ahead of it, because a run is listed before its
// start is recorded.
func (r *Run) Begin(s runlog.Started, at time.Time) {
	s.Args = nil
	s.Owner = callers.OwnerID(s.Owner)
	for _, text := range []*string{&s.Photon, &s.Title, &s.Version, &s.Owner, &s.Surface} {
		*text = unique.Make(*text).Value() // many runs share them
	}
	if s.Caller != nil && s.Caller.Name == "" {
		s.Caller = nil // lists show names, not roles
	}
	r.Start, r.StartedAt, r.State = s, at.Round(0), Running
	r.ChangedAt = r.StartedAt
}

// Owner returns the id of the run's owner.
func (r *Run) Owner() string {
	if r.Adopter != nil {
		return r.Adopter.ID
	}
	return r.Start.Owner
}

// Clone returns a copy that shares nothing that Apply changes.
func (r *Run) Clone() Run {
	c := *r
	c.Asks, c.Sleeps = slices.Clone(r.Asks), slices.Clone(r.Sleeps)
	for i, a := range c.Asks {
		c.Asks[i] = new(*a)
	}
	c.Repeated, c.Attempts = maps.Clone(r.Repeated), maps.Clone(r.Attempts)
	for step, a := range c.Attempts {
		c.Attempts[step] = new(Attempt{a.Goroutine, slices.Clone(a.Events)})
	}
	return c
}

// Due returns the first deadline of the open questions and the sleeps in progress; zero if
// there is none.
func (r *Run) Due() (first time.Time) {
	add := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	for _, a := range r.Asks {
		add(a.Deadline)
	}
	for _, s := range r.Sleeps {
		add(s.Until)
	}
	return first
}

// IsAtRest reports whether nothing is to be done for the run until a question is settled, a
// sleep ends or its turn comes, even if no process has its generator: a durable run waits,
// sleeps or is queued, and has recorded nothing since that another attempt would have to
// repeat. A run that has ended is at rest; one that is parked isn't, since another program may
// let it go on.
func (r *Run) IsAtRest() bool {
	if r.State.Ended() {
		return true
	}
	return r.Start.Durable && r.Parked == nil && (r.Queued || r.State != Running && !r.HasNewEvents)
}

// ErrCannotFollow is wrapped by the error for an entry that can't follow what the run was.
var ErrCannotFollow = errors.New("can't follow")

// Apply applies the next entry, with its data even if that was too large for the log. The
// error means that it can't be decoded, or can't follow; it is then applied as far as possible.
func (r *Run) Apply(e runlog.Entry) (Change, error) {
	f := fold{Run: r, Change: Change{From: r.State}}
	if r.Last == 0 {
		f.From = "" // also after Begin
	}
	r.Last = e.Seq
	if len(e.Data) <= runlog.MaxEntryData { // otherwise it isn't in the log
		r.Bytes += int64(len(e.Data))
	}
	err := e.Visit(&f)
	if !r.State.Ended() {
		r.State = r.deriveState()
	}
	if r.State != f.From {
		r.ChangedAt = e.Time.Round(0)
	}
	if err == nil && !isPossible(e.Kind, f.From, r.State) {
		err = fmt.Errorf("entry %d (%s) %w: the run was %s", e.Seq, e.Kind, ErrCannotFollow, cmp.Or(f.From, "not started"))
	}
	return f.Change, err
}

// deriveState returns the state of a run that has not ended.
func (r *Run) deriveState() State {
	switch {
	case r.Parked != nil:
		return Parked
	case len(r.Asks) > 0:
		return Waiting
	case len(r.Sleeps) > 0:
		return Sleeping
	}
	return Running
}

// FindAsk returns the open question with an ordinal, or nil.
func (r *Run) FindAsk(seq uint64) *Ask {
	for _, a := range r.Asks {
		if a.Seq == seq {
			return a
		}
	}
	return nil
}

// FindSleep returns the sleep in progress with an ordinal, or nil.
func (r *Run) FindSleep(seq uint64) *Sleep {
	for _, s := range r.Sleeps {
		if s.Seq == seq {
			return s
		}
	}
	return nil
}

// A fold applies entries to a run.
type fold struct {
	*Run
	Change
}

var _ runlog.Visitor = (*fold)(nil)

func (f *fold) Started(e runlog.Entry, s runlog.Started) error {
	f.State = Running
	if f.StartedAt.IsZero() {
		f.Begin(s, e.Time)
	}
	return nil
}

func (f *fold) Queued(runlog.Entry, runlog.Queued) error {
	f.Run.Queued = true
	return nil
}

func (f *fold) Claimed(_ runlog.Entry, c runlog.Claimed) error {
	f.LeftQueue, f.Run.Queued = f.Run.Queued, false
	if c.Epoch > f.Epoch {
		f.Epoch, f.Superseded = c.Epoch, true
	}
	f.Program, f.Worker, f.Run.Parked = c.Program, c.Worker, nil
	return nil
}

func (f *fold) Parked(_ runlog.Entry, p runlog.Parked) error {
	f.Run.Parked = &p
	return nil
}

func (f *fold) Asked(e runlog.Entry, a runlog.Asked) error {
	f.Opened = &Ask{Seq: e.Seq, AskedAt: e.Time.Round(0), Deadline: a.Deadline}
	if a.Question != nil {
		f.Opened.Audience = audience.Of(a.Question)
	}
	f.Asks = append(f.Asks, f.Opened)
	f.TimeSpent, f.HasNewEvents = time.Duration(a.TimeSpent), a.Taken
	return nil
}

func (f *fold) Answered(_ runlog.Entry, a runlog.Answered) error { return f.settle(a.AskSeq) }

func (f *fold) Withdrawn(_ runlog.Entry, w runlog.Withdrawn) error { return f.settle(w.AskSeq) }

func (f *fold) settle(ask uint64) error {
	if f.Settled = f.FindAsk(ask); f.Settled != nil {
		f.Asks = slices.DeleteFunc(f.Asks, func(a *Ask) bool { return a == f.Settled })
	}
	f.HasNewEvents = true
	return nil
}

func (f *fold) Stepped(_ runlog.Entry, s runlog.Stepped) error {
	f.TimeSpent, f.HasNewEvents = time.Duration(s.TimeSpent), false
	delete(f.Attempts, s.Key)
	return nil
}

func (f *fold) Sleeping(e runlog.Entry, s runlog.Sleeping) error {
	f.FellAsleep = &Sleep{e.Seq, s.Until}
	f.Sleeps = append(f.Sleeps, f.FellAsleep)
	f.TimeSpent, f.HasNewEvents = time.Duration(s.TimeSpent), false
	return nil
}

func (f *fold) Woken(_ runlog.Entry, w runlog.Woken) error {
	if f.Woke = f.FindSleep(w.SleepSeq); f.Woke != nil {
		f.Sleeps = slices.DeleteFunc(f.Sleeps, func(s *Sleep) bool { return s == f.Woke })
	}
	f.HasNewEvents = true
	return nil
}

func (f *fold) Repeated(e runlog.Entry, r runlog.Repeated) error {
	if f.Run.Repeated == nil {
		f.Run.Repeated = make(map[string]uint64)
	}
	f.Run.Repeated[r.Key] = e.Seq
	delete(f.Attempts, r.Key)
	return nil
}

func (f *fold) Adopted(_ runlog.Entry, a runlog.Adopted) error {
	f.Adopter = &generators.Caller{ID: a.By.ID, Name: a.By.Name}
	return nil
}

func (f *fold) Sampling(e runlog.Entry, s runlog.Sampling) error {
	a := f.FindAsk(s.AskSeq)
	switch {
	case a == nil:
	case s.Approved != nil:
		a.Call, a.Calling, a.Version, a.Revised = s.Call, true, 0, ""
		if s.Approved.Request != nil {
			a.Version, a.Revised = e.Seq, runlog.MessageOf(s.Approved.Request)
		}
	case s.Ended != nil:
		a.Calling = false
	}
	return nil
}

func (f *fold) Finished(e runlog.Entry, end runlog.Finished) error {
	f.State, f.EndedAt = State(end.Status), e.Time.Round(0)
	f.Reason, f.Error = end.Reason(), outcome.TextForPeople(&end)
	f.Sleeps, f.Attempts, f.Run.Queued, f.Run.Parked, f.TimeSpent = nil, nil, false, nil, time.Duration(end.TimeSpent)
	end.Result, end.Content, end.ResultPreview, end.Panic = nil, nil, "", ""
	f.End = &end
	return nil
}

func (f *fold) Event(e runlog.Entry) error {
	f.Events++
	f.HasNewEvents = true
	if e.Step != "" {
		f.addAttempt(e)
	}
	if e.Kind != kindStatus || len(e.Data) == 0 {
		return nil
	}
	s, err := runlog.Decode[generators.StatusEvent](e)
	f.Status = strings.Clone(humanize.TruncateBytes(s.Text, MaxStatusBytes, "…"))
	return err
}

// addAttempt adds an event to the attempt at a step.
func (f *fold) addAttempt(e runlog.Entry) {
	a := f.Attempts[e.Step]
	if a == nil {
		a = &Attempt{Goroutine: e.Goroutine}
		if f.Attempts == nil {
			f.Attempts = make(map[string]*Attempt)
		}
		f.Attempts[e.Step] = a
	}
	if n := len(a.Events); n > 0 && a.Events[n-1][1] == e.Seq-1 {
		a.Events[n-1][1] = e.Seq
	} else {
		a.Events = append(a.Events, [2]uint64{e.Seq, e.Seq})
	}
}

// kindStatus is the kind of [generators.StatusEvent] entries.
const kindStatus runlog.Kind = "status"

// MaxStatusBytes bounds the status that is kept of a run, since there may be many runs.
const MaxStatusBytes = 200
