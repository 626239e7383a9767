package timeline

import (
	"context"
	"errors"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/runlog"
)

// A Loader folds the logs of an engine's runs. It is safe for concurrent use.
type Loader struct {
	Engine *engine.Engine
	Models *llm.Models // nil if there are none
	// Upstream returns the MCP server whose tool a photon calls; empty for Beam's own.
	Upstream func(photon string) string
}

// Begin returns a run of a photon as a viewer sees it, before the first entry of its log.
func (l *Loader) Begin(viewer generators.Caller, id, photon string) *Run {
	run := New(id)
	l.setViewer(run, viewer)
	run.Upstream = l.Upstream(photon)
	return run
}

func (l *Loader) setViewer(run *Run, viewer generators.Caller) {
	run.Viewer, run.Models, run.Unanswerable = viewer, l.Models, l.Engine.IsUnanswerable
	run.Holder = func(worker string) *sharing.Holder { return l.Engine.HolderOf(worker, viewer) }
}

// Load folds a run's log.
func (l *Loader) Load(ctx context.Context, viewer generators.Caller, id string) (*Run, error) {
	return l.LoadChanges(ctx, viewer, id, func(Change) {})
}

// LoadChanges is [Loader.Load], and calls each for what each entry changes.
func (l *Loader) LoadChanges(ctx context.Context, viewer generators.Caller, id string, each func(Change)) (*Run, error) {
	run := New(id)
	return run, l.fold(ctx, viewer, run, each)
}

// LoadWindow is [Loader.Load] for the rows of a window.
func (l *Loader) LoadWindow(ctx context.Context, viewer generators.Caller, id string, w Window) (*Run, error) {
	run := NewWindow(id, w)
	return run, l.fold(ctx, viewer, run, func(Change) {})
}

func (l *Loader) fold(ctx context.Context, viewer generators.Caller, run *Run, each func(Change)) error {
	batches, err := l.Engine.Read(ctx, viewer, run.ID, 0)
	if err != nil {
		return err
	}
	l.setViewer(run, viewer)
	for batch, err := range batches {
		if err != nil {
			return err
		}
		for _, e := range batch {
			each(run.Apply(e))
		}
	}
	run.Upstream = l.Upstream(run.Photon)
	run.Forks, err = l.Engine.Forks(ctx, viewer, run.ID)
	return err
}

// LoadAsk returns a question, open or closed; nil if there is none.
func (l *Loader) LoadAsk(ctx context.Context, viewer generators.Caller, id string) (*Ask, error) {
	runID, _, ok := runlog.SplitAskID(id)
	if !ok {
		return nil, nil
	}
	run, err := l.Load(ctx, viewer, runID)
	if errors.Is(err, engine.ErrForbidden) {
		run, err = l.loadAskOnly(ctx, viewer, runID, id)
	}
	if errors.Is(err, engine.ErrRunNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return run.Ask(id), nil
}

// loadAskOnly folds what a viewer who can't use a run may see of a question.
func (l *Loader) loadAskOnly(ctx context.Context, viewer generators.Caller, runID, id string) (*Run, error) {
	entries, err := l.Engine.ReadAsk(ctx, viewer, id)
	if err != nil {
		return nil, err
	}
	run := New(runID)
	run.Viewer = viewer
	for _, e := range entries {
		run.Apply(e)
	}
	if a := run.Ask(id); a != nil {
		a.AskOnly, a.OwnerName = true, callers.Describe(run.Owner.ID, run.Owner.Name)
	}
	return run, nil
}
