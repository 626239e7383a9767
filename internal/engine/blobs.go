package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
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
	r.addBlobBytes(size)
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
		if err := r.removeBlob(e.Blob, int64(len(entries[i].Data))); err != nil {
			r.engine.logger.Error("deleting the blob of an entry that was not recorded", "run", r.id, "err", err)
		}
	}
}

// addBlobBytes changes how many bytes the run's blobs have, and its owner's disk. Callers
// hold mu.
func (r *trackedRun) addBlobBytes(n int64) {
	r.blobBytes += n
	r.engine.disk.Add(r.owner(), n)
}

// removeBlob deletes a blob to which no entry came to refer, unless another entry refers to the
// same content, or somebody has uploaded it. Callers hold mu.
func (r *trackedRun) removeBlob(digest string, size int64) error {
	r.addBlobBytes(-size)
	if r.engine.uploaded.has(r.id, digest) {
		return nil
	}
	for batch, err := range r.engine.log.Read(r.engine.ctx, r.id, 0) {
		if err != nil {
			return err
		}
		for _, entry := range batch {
			if entry.Blob == digest {
				return nil
			}
			entry, err := r.engine.loadSpilledData(r.id, entry)
			if err != nil {
				return err
			}
			if refs, err := entry.Blobs(); err != nil || slices.Contains(refs, digest) {
				return err
			}
		}
	}
	return r.engine.blobs.Remove(r.id, digest)
}

// storedBlobs returns how many bytes a run's blobs have.
func (e *Engine) storedBlobs(run string) int64 {
	if e.blobs == nil {
		return 0
	}
	n, err := e.blobs.RunSize(run)
	if err != nil {
		e.logger.Error("measuring the files of a run", "run", run, "err", err)
	}
	return n
}

// resultFile is what a result is called if it is damaged.
const resultFile = "the result"

// openBlob opens a blob of a run; file is what people call it. If it is damaged, the error, or
// that of reading it, is a [*runlog.DamagedError], which is logged.
func (e *Engine) openBlob(run, digest, file string) (io.ReadSeekCloser, error) {
	return openBlob(e.blobs, run, digest, file, func(reason error) {
		if e.Exists(run) { // otherwise it has been deleted
			e.logger.Error("a stored file is damaged", "run", run, "file", file, "blob", digest, "err", reason)
		}
	})
}

func openBlob(blobs *blob.Store, run, digest, file string, damaged func(reason error)) (io.ReadSeekCloser, error) {
	return blobs.OpenVerified(run, digest, func(reason error) error {
		damaged(reason)
		return &runlog.DamagedError{Run: run, File: file, Err: reason}
	})
}

// loadSpilledData returns the entry with its data, read from the blob store if it
// was spilled.
func (e *Engine) loadSpilledData(run string, entry runlog.Entry) (runlog.Entry, error) {
	return readSpilled(run, entry, e.openBlob)
}

func readSpilled(run string, entry runlog.Entry, open func(run, digest, file string) (io.ReadSeekCloser, error)) (runlog.Entry, error) {
	if entry.Blob == "" {
		return entry, nil
	}
	f, err := open(run, entry.Blob, fmt.Sprintf("entry %d (%s)", entry.Seq, entry.Kind))
	if err != nil {
		return entry, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	entry.Data, entry.Blob = b.Bytes(), ""
	return entry, errors.Join(err, f.Close())
}

// LoadEntry returns a function that returns an entry with its data, read from the blob store if
// it was too large for the log. If that is damaged, the function returns an entry that says so
// to readers, in its place.
func LoadEntry(blobs *blob.Store) func(run string, entry runlog.Entry) (runlog.Entry, error) {
	return func(run string, entry runlog.Entry) (runlog.Entry, error) {
		loaded, err := readSpilled(run, entry, func(run, digest, file string) (io.ReadSeekCloser, error) {
			return openBlob(blobs, run, digest, file, func(error) {})
		})
		if told, ok := tellDamage(entry, err); ok {
			return told, nil
		}
		return loaded, err
	}
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

// damagedPhoton is the photon of a run whose start is damaged. No photon has a name with
// parentheses.
const damagedPhoton = "(unknown)"

// standIns return the data of entries that a run can't be without, for damaged ones. A run whose
// start is damaged belongs to the operator: what is left of the file can't be trusted.
var standIns = map[runlog.Kind]func(*runlog.DamagedError) any{
	runlog.KindStarted: func(*runlog.DamagedError) any {
		return runlog.Started{Photon: damagedPhoton, Title: "Damaged run", Owner: callers.Operator().ID}
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
