package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// readAllRuns reads every run from the log. The runs are not in the index yet, and
// their deadlines are not scheduled. Runs that can't be read are logged and
// skipped.
func (e *Engine) readAllRuns(ctx context.Context) ([]*trackedRun, error) {
	rd := runLoader{engine: e, runs: make(map[string]*trackedRun), failures: make(map[string]error)}
	for a, err := range runlog.Scan(ctx, e.log) {
		if err != nil {
			return nil, err
		}
		if rd.failures[a.Run] != nil {
			continue
		}
		if err := rd.loadAppended(a); err != nil {
			rd.failures[a.Run] = err
			delete(rd.runs, a.Run)
		}
	}
	return rd.loadedRuns(), nil
}

// A runLoader builds runs from their entries.
type runLoader struct {
	engine       *Engine
	runs         map[string]*trackedRun
	inStartOrder []*trackedRun
	failures     map[string]error // by run
}

// loadedRuns returns the runs that could be read, in the order of their start. It
// logs the others.
func (rd *runLoader) loadedRuns() []*trackedRun {
	for id, err := range rd.failures {
		rd.engine.logUnreadableRun(id, err)
	}
	for _, r := range rd.inStartOrder {
		r.loading = false
	}
	return slices.DeleteFunc(rd.inStartOrder, func(r *trackedRun) bool { return rd.failures[r.id] != nil })
}

// loadAppended loads the entries of one append.
func (rd *runLoader) loadAppended(a runlog.AppendedEntries) error {
	for _, entry := range a.Entries {
		r := rd.runs[a.Run]
		if r == nil && entry.Kind != runlog.KindStarted {
			return errors.New("its log does not begin with its start")
		}
		if r == nil {
			r = &trackedRun{engine: rd.engine, id: a.Run, loading: true}
			rd.runs[a.Run] = r
			rd.inStartOrder = append(rd.inStartOrder, r)
		}
		if entry.Seq != r.lastSeq+1 {
			return fmt.Errorf("%w: entry %d follows entry %d", runlog.ErrCorrupt, entry.Seq, r.lastSeq)
		}
		if err := r.loadEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// loadEntry loads one entry of a run. It doesn't need mu, because no other
// goroutine has the run yet.
func (r *trackedRun) loadEntry(entry runlog.Entry) error {
	if err := r.countBlobRefs(entry); err != nil {
		return err
	}
	large := entry.Blob != ""
	entry, err := r.engine.loadSpilledData(r.id, entry)
	if err != nil {
		return err
	}
	if large {
		r.spilledBytes += int64(len(entry.Data))
	}
	switch {
	case entry.Kind == runlog.KindStarted:
		s, err := runlog.Decode[runlog.Started](entry)
		if err != nil {
			return err
		}
		photon, _ := r.engine.photons.Lookup(s.Photon)
		r.applyStarted(photon, s, entry.Time)
	case entry.Kind.IsEvent():
		r.hasNewEvents = true
	case entry.Kind == runlog.KindAsked, entry.Kind == runlog.KindStepped:
		r.hasNewEvents = false
	}
	r.applyEntry(entry)
	if (entry.Kind == runlog.KindAnswered || entry.Kind == runlog.KindWithdrawn) && len(r.openAsks) > 0 {
		r.hasNewEvents = true // the goroutine that asked can continue
	}
	return nil
}

// countBlobRefs counts the blobs that an entry refers to.
func (r *trackedRun) countBlobRefs(entry runlog.Entry) error {
	switch {
	case entry.Blob != "":
		r.addBlobRef(entry.Blob, 0)
	case entry.Kind == "artifact":
		a, err := runlog.Decode[generators.Artifact](entry)
		if err != nil {
			return err
		}
		if a.Digest != "" {
			r.addBlobRef(a.Digest, a.Size)
		}
	case entry.Kind == runlog.KindAnswered:
		a, err := runlog.Decode[runlog.Answered](entry)
		if err != nil {
			return err
		}
		for _, f := range a.Answer.Files {
			r.addBlobRef(f.Digest, f.Size)
		}
	}
	return nil
}
