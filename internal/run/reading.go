package run

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/log"
)

// readAll reads every run from the log, on all processors: each reads some of
// the runs. The lists don't have them yet, nor do their deadlines go on. Those
// that can't be read are left out.
func (e *Engine) readAll(ctx context.Context) ([]*record, error) {
	readers := make([]*reader, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range readers {
		rd := newReader(e)
		readers[i] = rd
		all.Go(rd.read)
	}
	seed := maphash.MakeSeed()
	var err error
	for a, scanErr := range log.Scan(ctx, e.log) {
		if err = scanErr; err != nil {
			break
		}
		readers[maphash.String(seed, a.Run)%uint64(len(readers))].give(a)
	}
	for _, rd := range readers {
		rd.end()
	}
	all.Wait()
	if err != nil {
		return nil, err
	}
	var runs []*record
	for _, rd := range readers {
		runs = append(runs, rd.found()...)
	}
	return runs, nil
}

// A reader reads some of the runs.
type reader struct {
	engine *Engine
	next   []log.Appended
	in     chan []log.Appended
	runs   map[string]*record
	begun  []*record // in the order of their start
	broken map[string]error
}

// handful is how many appends are handed over at once.
const handful = 256

func newReader(e *Engine) *reader {
	return &reader{
		engine: e, in: make(chan []log.Appended, 16),
		runs: make(map[string]*record), broken: make(map[string]error),
	}
}

func (rd *reader) give(a log.Appended) {
	if rd.next = append(rd.next, a); len(rd.next) == handful {
		rd.in <- rd.next
		rd.next = make([]log.Appended, 0, handful)
	}
}

func (rd *reader) end() {
	rd.in <- rd.next
	close(rd.in)
}

func (rd *reader) read() {
	for appends := range rd.in {
		for _, a := range appends {
			if rd.broken[a.Run] != nil {
				continue
			}
			if err := rd.take(a); err != nil {
				rd.broken[a.Run] = err
				delete(rd.runs, a.Run)
			}
		}
	}
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
		r.beside.spilled += int64(len(entry.Data))
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
