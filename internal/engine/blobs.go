package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
)

// Data that is too large for the log is in the blob store: the data of large
// entries ("spilled" data) and the bodies of large artifacts.

// spillEntry moves an entry's data to the blob store if it is too large for the
// log. Callers hold mu.
func (r *trackedRun) spillEntry(ctx context.Context, e runlog.Entry) (runlog.Entry, error) {
	if len(e.Data) <= runlog.MaxEntryData {
		return e, nil
	}
	digest, size, err := r.engine.blobs.Put(ctx, r.id, bytes.NewReader(e.Data))
	if err != nil {
		return e, fmt.Errorf("storing a large %s: %w", e.Kind, err)
	}
	r.addBlobRef(digest, size)
	r.spilledBytes += size
	e.Data, e.Blob = nil, digest
	return e, nil
}

// spillEntries calls spillEntry for each entry. If one fails, none is spilled.
func (r *trackedRun) spillEntries(ctx context.Context, entries []runlog.Entry) ([]runlog.Entry, error) {
	stored := make([]runlog.Entry, len(entries))
	for i, e := range entries {
		var err error
		if stored[i], err = r.spillEntry(ctx, e); err != nil {
			r.undoSpill(stored[:i], entries)
			return nil, err
		}
	}
	return stored, nil
}

// undoSpill deletes the blobs of spilled entries that were not appended.
func (r *trackedRun) undoSpill(stored, entries []runlog.Entry) {
	for i, e := range stored {
		if e.Blob == entries[i].Blob {
			continue
		}
		size := int64(len(entries[i].Data))
		r.spilledBytes -= size
		if r.removeBlobRef(e.Blob, size) {
			if err := r.engine.blobs.Remove(r.id, e.Blob); err != nil {
				r.engine.logger.Error("deleting the blob of an entry that was not recorded", "run", r.id, "err", err)
			}
		}
	}
}

// addBlobRef counts a reference to a blob. Callers hold mu.
func (r *trackedRun) addBlobRef(digest string, size int64) {
	if r.blobRefs == nil {
		r.blobRefs = make(map[string]int)
	}
	r.blobRefs[digest]++
	r.addBlobBytes(size)
}

// addBlobBytes changes how many bytes the run's blobs have, and its owner's disk. Callers
// hold mu.
func (r *trackedRun) addBlobBytes(n int64) {
	r.blobBytes += n
	if !r.loading {
		r.engine.disk.Add(r.owner(), n)
	}
}

// removeBlobRef uncounts a reference to a blob and reports whether it was the
// last. Callers hold mu.
func (r *trackedRun) removeBlobRef(digest string, size int64) bool {
	r.addBlobBytes(-size)
	if r.blobRefs[digest] > 1 {
		r.blobRefs[digest]--
		return false
	}
	delete(r.blobRefs, digest)
	return true
}

// resultFile is what a result is called if it is damaged.
const resultFile = "the result"

// openBlob opens a blob of a run; file is what people call it. If it is damaged, the error, or
// that of reading it, is a [*runlog.DamagedError], which is logged.
func (e *Engine) openBlob(run, digest, file string) (io.ReadSeekCloser, error) {
	return e.blobs.OpenVerified(run, digest, func(reason error) error {
		if e.index.lookup(run) != nil { // otherwise the run has been deleted, or recovery says more
			e.logger.Error("a stored file is damaged", "run", run, "file", file, "blob", digest, "err", reason)
		}
		return &runlog.DamagedError{Run: run, File: file, Err: reason}
	})
}

// loadSpilledData returns the entry with its data, read from the blob store if it
// was spilled.
func (e *Engine) loadSpilledData(run string, entry runlog.Entry) (runlog.Entry, error) {
	if entry.Blob == "" {
		return entry, nil
	}
	f, err := e.openBlob(run, entry.Blob, fmt.Sprintf("entry %d (%s)", entry.Seq, entry.Kind))
	if err != nil {
		return entry, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	entry.Data, entry.Blob = b.Bytes(), ""
	return entry, errors.Join(err, f.Close())
}

// tellDamage returns an entry that says to readers that the data of another is damaged, in
// its place, so that they get the rest of the run. A replay needs the data itself: it ends the
// run, and a run whose start is damaged ends when it is recovered.
func tellDamage(entry runlog.Entry, err error) (runlog.Entry, bool) {
	damaged, ok := errors.AsType[*runlog.DamagedError](err)
	if !ok {
		return entry, false
	}
	told := runlog.NewEntry("log", generators.LogEvent{Level: generators.Error, Logger: "beam", Data: damaged.Error()})
	if standIn := standIns[entry.Kind]; standIn != nil {
		told = runlog.NewEntry(entry.Kind, standIn(damaged))
	}
	told.Seq, told.Time = entry.Seq, entry.Time
	return told, true
}

// standIns return the data of entries that a run can't be without, for damaged ones. A run whose
// start is damaged belongs to the operator: what is left of the file can't be trusted. No photon
// has a name with parentheses.
var standIns = map[runlog.Kind]func(*runlog.DamagedError) any{
	runlog.KindStarted: func(*runlog.DamagedError) any {
		return runlog.Started{Photon: "(unknown)", Title: "Damaged run", Owner: callers.Operator().ID}
	},
	runlog.KindFinished: func(d *runlog.DamagedError) any {
		return runlog.Finished{Status: runlog.Failed, Error: d.Error()}
	},
}

// blobOpener returns a function that opens the files of an answer by digest.
func (r *trackedRun) blobOpener(files []ask.FileRef) func(string) (io.ReadCloser, error) {
	return func(digest string) (io.ReadCloser, error) {
		name := "an uploaded file"
		for _, f := range files {
			if f.Digest == digest {
				name = fmt.Sprintf("the uploaded file %q", f.Name)
			}
		}
		return r.engine.openBlob(r.id, digest, name)
	}
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
	case entry.Kind == runlog.KindFinished:
		f, err := runlog.Decode[runlog.Finished](entry)
		if err != nil {
			return err
		}
		if f.ContentBlob != "" {
			r.addBlobRef(f.ContentBlob, f.ContentSize)
		}
		if f.ResultBlob != "" {
			r.addBlobRef(f.ResultBlob, f.ResultSize)
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
