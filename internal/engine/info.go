package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/engine/schedule"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// State is the state of a run.
type State = runstate.State

// The states of a run; see package runstate.
const (
	Running     = runstate.Running
	Waiting     = runstate.Waiting
	Sleeping    = runstate.Sleeping
	Parked      = runstate.Parked
	Completed   = runstate.Completed
	Unanswered  = runstate.Unanswered
	Failed      = runstate.Failed
	Stopped     = runstate.Stopped
	Interrupted = runstate.Interrupted
)

// States lists the states, in the order in which pages list them.
var States = runstate.States

// Info describes a run, as lists show it. It doesn't change when the run does.
type Info struct {
	ID      string `json:"id"`
	Photon  string `json:"photon"`
	Title   string `json:"title"`
	Surface string `json:"surface"`
	Durable bool   `json:"durable"`
	State   State  `json:"state"`
	// Reason is why the question that an unanswered run ended with has no answer.
	Reason runlog.UnansweredReason `json:"reason,omitempty"`
	// Error says, for people, why a run that has ended has no result.
	Error   string    `json:"error,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	// RetainedUntil is the earliest time at which the run may be deleted; zero for
	// a run that hasn't ended, which is never deleted.
	RetainedUntil time.Time `json:"-"`
	// StateChanged is when State changed last, and LatestStatus the latest status
	// that the photon reported, truncated to 200 bytes.
	StateChanged time.Time `json:"-"`
	LatestStatus string    `json:"-"`
	// End is how the run ended, without the result; nil for a run that hasn't ended.
	End *runlog.Finished `json:"-"`
	// Wakes is when the first of the sleeps in progress ends; zero if there is none.
	Wakes time.Time `json:"wakes,omitzero"`
	// QueuedFor is the run's key if the run waits for another one with the same key to
	// end, and otherwise empty; see [generators.Options].
	QueuedFor string `json:"queuedFor,omitempty"`
	// PausedFor says in a sentence why the run does nothing for now, if it waits for something
	// else, such as its turn with another server.
	PausedFor string `json:"pausedFor,omitempty"`
	// Parked says why the run can't go on with this program; nil if it can.
	Parked *runlog.Parked `json:"parked,omitempty"`
	// ForkOf is the id of the run that the run was forked from, at the entry with the ordinal
	// ForkUntil; empty for none.
	ForkOf    string `json:"forkOf,omitempty"`
	ForkUntil uint64 `json:"forkUntil,omitempty"`
	// Forks are the ids of the runs that were forked from it, and that the caller may use, oldest
	// first, at most MaxListedForks. Lists don't have them.
	Forks []string `json:"forks,omitempty"`
	// LastSeq is the ordinal of the newest entry.
	LastSeq uint64 `json:"last"`
	// Asks lists the open questions, oldest first.
	Asks []OpenAsk `json:"asks,omitempty"`
	// Owner is the id of the caller who sees, answers and stops the run, and OwnerName
	// what people call the owner. Operators see, answer and stop it, too.
	Owner     string `json:"owner"`
	OwnerName string `json:"ownerName"`
	// Replica is the process that holds the run, for operators, if several may share the log; nil
	// otherwise, and for a run that has ended.
	Replica *sharing.Holder `json:"replica,omitempty"`
}

// OpenAsk is a question that waits for an answer.
type OpenAsk struct {
	ID     string `json:"id"` // of the ask
	Run    string `json:"run"`
	Photon string `json:"photon"`
	Title  string `json:"title"` // of the photon
	// Owner is the id of the run's owner, and OwnerName what people call the owner.
	Owner     string    `json:"owner"`
	OwnerName string    `json:"ownerName"`
	Since     time.Time `json:"since"`
	// For says who may answer, for people, if the question names them; see [ask.From].
	// Excluded means that the caller for whom the question was looked up may not.
	For      string `json:"for,omitempty"`
	Excluded bool   `json:"excluded,omitempty"`
	// Reserved means that it is excluded because the question is for the run's owner alone.
	Reserved bool `json:"-"`
	// Unanswerable means that nobody who can sign in may answer it, unless the people change.
	Unanswerable bool `json:"unanswerable,omitempty"`
	// Parked says why nobody can answer it now: its run is parked. Nil if that isn't so.
	Parked *runlog.Parked `json:"parked,omitempty"`
	// AskOnly means that the caller may answer the question, but not use its run.
	AskOnly bool `json:"askOnly,omitempty"`
	runlog.Asked
}

// SetParked sets that nobody can answer the question now, because its run is parked; nil changes
// nothing.
func (a *OpenAsk) SetParked(p *runlog.Parked) {
	if p != nil {
		a.Parked, a.Excluded, a.Unanswerable = p, true, true
	}
}

// Asker says for people who asks: a photon by its title, and another server's tool by the
// names that Beam gives it, since its title could be anything.
func (a *OpenAsk) Asker() string {
	if a.Question != nil && a.Question.Server != "" {
		return runlog.Asker(a.Question, a.Photon)
	}
	return cleantext.Line(cmp.Or(a.Title, a.Photon))
}

// ExcludedReason says for people why the caller for whom the question was looked up can't
// answer it.
func (a *OpenAsk) ExcludedReason() string {
	if a.Parked != nil {
		return "Nobody can answer this now, because its run is parked: " + a.Parked.Detail + ". " + runlog.ParkedRemedy + "."
	}
	if a.Unanswerable {
		return "Nobody can answer this: it is for " + a.For + ", and nobody who can sign in qualifies. You can stop its run."
	}
	return "Only " + a.For + " can answer this."
}

// Refusal is the error of an answer by the caller for whom the question was looked up, if that
// caller can't answer it.
func (a *OpenAsk) Refusal() error {
	switch {
	case a.Parked != nil:
		return &ParkedError{a.Parked}
	case a.Excluded:
		return &OthersAnswerError{a.For}
	}
	return nil
}

// WaitsFor says in a sentence what a question waits for that the caller can't answer.
func (a *OpenAsk) WaitsFor() string {
	if a.Parked != nil {
		return "Can't be answered now, because its run is parked"
	}
	return "Waits for " + a.For + " to answer"
}

// Pause says in a sentence why a run that isn't waiting for an answer does nothing now.
// It is empty if that isn't so.
func (i *Info) Pause() string {
	switch {
	case i.Parked != nil:
		return i.Parked.Describe()
	case i.State == Sleeping:
		return runlog.DescribeSleep(i.Wakes)
	case i.QueuedFor != "":
		return runlog.DescribeQueue(i.QueuedFor)
	}
	return i.PausedFor
}

// describe returns what lists show of a run, without the open questions.
func (c *core) describe(id string, r *runstate.Run) Info {
	s := &r.Start
	i := Info{
		ID: id, Photon: s.Photon, Title: s.Title, Surface: s.Surface, Durable: s.Durable,
		State: r.State, StateChanged: r.ChangedAt, Reason: r.Reason, Error: r.Error, LatestStatus: r.Status, End: r.End,
		Started: r.StartedAt, Ended: r.EndedAt, Wakes: nextWake(r), Parked: r.Parked, LastSeq: r.Last,
		Owner: r.Owner(), OwnerName: nameOfOwner(r.Start, r.Adopter),
	}
	if s.Fork != nil {
		i.ForkOf, i.ForkUntil = s.Fork.Of, s.Fork.End()
	}
	if r.Queued {
		i.QueuedFor = s.Exclusive
	}
	if r.State.Ended() {
		i.RetainedUntil = c.keeper.Until(id, r)
	}
	return i
}

// Info returns one run, with its open questions. The error is [ErrRunNotFound],
// [ErrForbidden], or the log's.
func (x reader) Info(caller generators.Caller, id string) (Info, error) {
	r, err := x.findRun(caller, id)
	if err != nil {
		return Info{}, err
	}
	x.ensureChecked(r)
	return x.infoOf(r, caller)
}

// HolderOf returns the process of the ID that a run's latest claim has, for operators; nil for
// others, and if no other process has the log.
func (x reader) HolderOf(worker string, caller generators.Caller) *sharing.Holder {
	if !caller.HasRole(generators.RoleOperator) {
		return nil
	}
	return x.share.Holder(worker)
}

// ListedInfo is [Engine.Info] for a list, which doesn't wait for the check of a run any longer.
func (x reader) ListedInfo(caller generators.Caller, id string) (Info, error) {
	r, err := x.findRun(caller, id)
	if err != nil {
		return Info{}, err
	}
	return x.infoOf(r, caller)
}

func (x reader) infoOf(r *trackedRun, caller generators.Caller) (Info, error) {
	forks, err := x.Forks(context.Background(), caller, r.id) // while the engine closes, too
	if err != nil {
		return Info{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	info := r.info()
	info.Forks = forks
	if !info.State.Ended() {
		info.Replica = x.HolderOf(r.Worker, caller)
	}
	for _, a := range r.Asks {
		o, err := x.describeOpen(x.generatorCtx, r, a, caller)
		if err != nil {
			return info, err
		}
		info.Asks = append(info.Asks, o)
	}
	return info, nil
}

// MaxListedForks bounds [Info.Forks].
const MaxListedForks = 100

// Forks returns the ids of the runs that were forked from a run, as [Info.Forks] has them.
func (x reader) Forks(ctx context.Context, caller generators.Caller, id string) (forks []string, err error) {
	rows, err := x.rows.ForksOf(ctx, id, runlist.Position{}, MaxListedForks)
	for _, row := range rows {
		if usableBy(caller, row.Owner()) {
			forks = append(forks, row.ID)
		}
	}
	return forks, err
}

// nextWake returns when the first of a run's sleeps in progress ends; zero if there is none.
func nextWake(r *runstate.Run) (first time.Time) {
	for _, s := range r.Sleeps {
		first = schedule.Earliest(first, s.Until)
	}
	return first
}
