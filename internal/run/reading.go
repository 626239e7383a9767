package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// readAll reads every run from the log. The lists don't have them yet, nor do
// their deadlines go on. Those that can't be read are left out.
func (e *Engine) readAll(ctx context.Context) ([]*record, error) {
	rd := reader{engine: e, runs: make(map[string]*record), broken: make(map[string]error)}
	for a, err := range log.Scan(ctx, e.log) {
		if err != nil {
			return nil, err
		}
		if rd.broken[a.Run] != nil {
			continue
		}
		if err := rd.take(a); err != nil {
			rd.broken[a.Run] = err
			delete(rd.runs, a.Run)
		}
	}
	return rd.found(), nil
}

// A reader reads runs back.
type reader struct {
	engine *Engine
	runs   map[string]*record
	begun  []*record // in the order of their start
	broken map[string]error
}

// found are the runs that could be read.
func (rd *reader) found() []*record {
	for id, err := range rd.broken {
		rd.engine.leaveOut(id, err)
	}
	for _, r := range rd.begun {
		r.reading = false
	}
	return slices.DeleteFunc(rd.begun, func(r *record) bool { return rd.broken[r.id] != nil })
}

// take takes in what an append added.
func (rd *reader) take(a log.Appended) error {
	for _, entry := range a.Entries {
		r := rd.runs[a.Run]
		if r == nil && entry.Kind != log.KindStarted {
			return errors.New("its log does not begin with its start")
		}
		if r == nil {
			r = &record{engine: rd.engine, id: a.Run, reading: true}
			rd.runs[a.Run] = r
			rd.begun = append(rd.begun, r)
		}
		if entry.Seq != r.last+1 {
			return fmt.Errorf("%w: entry %d follows entry %d", log.ErrCorrupt, entry.Seq, r.last)
		}
		if err := r.remember(entry); err != nil {
			return err
		}
	}
	return nil
}

// remember takes in one entry. It does not hold mu: nobody else has the record.
func (r *record) remember(entry log.Entry) error {
	if err := r.rememberBlobs(entry); err != nil {
		return err
	}
	large := entry.Blob != ""
	entry, err := r.engine.hydrate(r.id, entry)
	if err != nil {
		return err
	}
	if large {
		r.spilled += int64(len(entry.Data))
	}
	switch {
	case entry.Kind == log.KindStarted:
		s, err := log.As[log.Started](entry)
		if err != nil {
			return err
		}
		photon, _ := r.engine.photons.Lookup(s.Photon)
		r.describe(photon, s, entry.Time)
	case entry.Kind.IsEvent():
		r.told = true
	case entry.Kind == log.KindAsked, entry.Kind == log.KindStepped:
		r.told = false
	}
	r.apply(entry)
	if (entry.Kind == log.KindAnswered || entry.Kind == log.KindWithdrawn) && len(r.asks) > 0 {
		r.told = true // one of its goroutines has something to go on with
	}
	return nil
}

// rememberBlobs counts what an entry names.
func (r *record) rememberBlobs(entry log.Entry) error {
	switch {
	case entry.Blob != "":
		r.refer(entry.Blob, 0)
	case entry.Kind == "artifact":
		a, err := log.As[generators.Artifact](entry)
		if err != nil {
			return err
		}
		if a.Digest != "" {
			r.refer(a.Digest, a.Size)
		}
	case entry.Kind == log.KindAnswered:
		a, err := log.As[log.Answered](entry)
		if err != nil {
			return err
		}
		for _, f := range a.Answer.Files {
			r.refer(f.Digest, f.Size)
		}
	}
	return nil
}
