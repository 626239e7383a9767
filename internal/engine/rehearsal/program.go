// Package rehearsal finds out whether unfinished runs fit the photons of a program: it replays them
// up to where their logs end, runs no step and records nothing. Code outside of steps runs, as in
// every replay.
package rehearsal

import (
	"context"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/driver"
	"github.com/photon-beam/beam/internal/engine/mask"
	"github.com/photon-beam/beam/internal/engine/replay"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A Program is what runs are rehearsed on. Its methods may be called from several goroutines.
type Program struct {
	Photons *registry.Registry
	// Digest returns a digest of the program; "" means that it isn't known.
	Digest func() string
	// Context returns the context of a run's generator.
	Context func(run string, startedBy generators.Caller) context.Context
	// Withdrawn returns the reply to a question that was withdrawn.
	Withdrawn func(runlog.Withdrawn) driver.Reply
	// Go calls a function in a goroutine, which may end later than the rehearsal.
	Go func(func())

	checked checkedRuns
}

// IsUnchecked reports whether it isn't known whether a durable run fits the program: another
// program has recorded it, or parked it.
func (p *Program) IsUnchecked(id string, r *runstate.Run) bool {
	by := r.Program
	if r.Parked != nil {
		by = r.Parked.Program
	}
	var was, is runlog.ParkedReason
	if r.Parked != nil && (r.Parked.Reason == runlog.ParkedMissing || r.Parked.Reason == runlog.ParkedVersion) {
		was = r.Parked.Reason
	}
	if _, parked := p.checkPhoton(&r.Start); parked != nil {
		is = parked.Reason
	}
	if was != is {
		return true // whatever the program: it may register photons as it likes
	}
	return (by == "" || by != p.Digest()) && !p.checked.has(id, r.Epoch)
}

// NoteChecked notes that it is known whether a run fits, until its next claim.
func (p *Program) NoteChecked(id string, r *runstate.Run) { p.checked.add(id, r.Epoch) }

// CheckStart returns why a run that began so doesn't fit, as far as that is known without its log;
// nil otherwise.
func (p *Program) CheckStart(s *runlog.Started) *runlog.Parked {
	_, parked := p.checkPhoton(s)
	return parked
}

// checkPhoton returns the photon of a run that began so, or why the run can't go on with it.
func (p *Program) checkPhoton(s *runlog.Started) (*generators.Photon, *runlog.Parked) {
	photon, found := p.Photons.Lookup(s.Photon)
	if !found {
		return nil, &runlog.Parked{Reason: runlog.ParkedMissing, Detail: "this program has no photon " + s.Photon}
	}
	if err := replay.CheckVersion(s, photon); err != nil {
		return nil, &runlog.Parked{Reason: runlog.ParkedVersion, Detail: err.Error()}
	}
	return photon, nil
}

// A Run is what is known of a run that is rehearsed.
type Run struct {
	ID       string
	Start    *runlog.Started
	History  *replay.History
	Attempts map[string]*runstate.Attempt // of steps without an outcome, by the steps' keys
	// Secrets returns those of the answers that the history has given so far.
	Secrets func() mask.Secrets
}

// Rehearse returns why a run doesn't fit the program, or nil if it does. It reports false if it
// doesn't find out in time, or can't without running a step.
func (p *Program) Rehearse(ctx context.Context, r Run) (parked *runlog.Parked, decided bool) {
	photon, parked := p.checkPhoton(r.Start)
	if parked != nil {
		return parked, true
	}
	if err := replay.CheckArguments(photon, r.History.Args); err != nil {
		return &runlog.Parked{Reason: runlog.ParkedInput, Detail: err.Error()}, true
	}
	if r.History.IsDone() || photon.Options().Definition != nil {
		return nil, true
	}
	generator := driver.Prepare(p.Context(r.ID, r.History.Caller), photon, r.History.Args)
	generator.SetID(r.ID)
	differs, decided := (&rehearsal{history: r.History, generator: generator, secrets: r.Secrets, attempts: r.Attempts, goes: p.Go}).run(ctx)
	if differs == nil {
		return nil, decided
	}
	return ParkedFor(differs, r.Secrets()), true
}

// ParkedFor returns how a run is parked whose replay differs from its log.
func ParkedFor(differs error, secrets mask.Secrets) *runlog.Parked {
	return &runlog.Parked{Reason: runlog.ParkedChanged, Detail: secrets.Text(differs.Error())}
}
