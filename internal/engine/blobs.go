package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/photon-beam/beam/generators"
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
	r.blobBytes += size
}

// removeBlobRef uncounts a reference to a blob and reports whether it was the
// last. Callers hold mu.
func (r *trackedRun) removeBlobRef(digest string, size int64) bool {
	r.blobBytes -= size
	if r.blobRefs[digest] > 1 {
		r.blobRefs[digest]--
		return false
	}
	delete(r.blobRefs, digest)
	return true
}

// loadSpilledData returns the entry with its data, read from the blob store if it
// was spilled.
func (e *Engine) loadSpilledData(run string, entry runlog.Entry) (runlog.Entry, error) {
	if entry.Blob == "" {
		return entry, nil
	}
	f, err := e.blobs.Open(run, entry.Blob)
	if err != nil {
		return entry, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	entry.Data, entry.Blob = b.Bytes(), ""
	return entry, errors.Join(err, f.Close())
}

// Upload stores a file for an open file question and returns its digest, for an
// [ask.FileRef] in the answer, and its size in bytes. If the file is larger than
// the question allows, the error is a [*generators.InvalidError].
func (e *Engine) Upload(ctx context.Context, caller Caller, askID string, content io.Reader) (digest string, size int64, err error) {
	open, err := e.OpenAsk(ctx, caller, askID)
	if err != nil {
		return "", 0, err
	}
	if open.Question.File == nil {
		return "", 0, &generators.InvalidError{Fields: []generators.FieldError{generators.At("file", "this question does not ask for a file")}}
	}
	limit := open.Question.File.MaxSize
	digest, size, err = e.blobs.Put(ctx, open.Run, io.LimitReader(content, limit+1))
	if err != nil {
		return "", 0, err
	}
	if r := e.index.lookup(open.Run); r != nil {
		r.mu.Lock()
		r.addBlobRef(digest, size)
		r.mu.Unlock()
	}
	if size > limit {
		e.DiscardUpload(open.Run, digest, size)
		err = &generators.InvalidError{Fields: []generators.FieldError{
			generators.At("file", fmt.Sprintf("must be at most %d bytes; this file is larger", limit))}}
	}
	return digest, size, err
}

// DiscardUpload deletes an uploaded file that no answer refers to.
func (e *Engine) DiscardUpload(run, digest string, size int64) {
	r := e.index.lookup(run)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.removeBlobRef(digest, size) {
		return
	}
	if err := e.blobs.Remove(run, digest); err != nil {
		e.logger.Error("deleting an upload", "run", run, "err", err)
	}
}

// blobOpener returns a function that opens the run's files by digest.
func (r *trackedRun) blobOpener() func(string) (io.ReadCloser, error) {
	return func(digest string) (io.ReadCloser, error) { return r.engine.blobs.Open(r.id, digest) }
}

// countUploads counts the uploaded files of all runs that no entry refers to, because
// no answer has used them yet.
func (e *Engine) countUploads() error {
	for id, err := range e.blobs.Runs() {
		if err != nil {
			return err
		}
		if r := e.index.lookup(id); r != nil {
			if err := r.countUploads(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *trackedRun) countUploads() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Ended() && r.blobRefs != nil {
		return nil // storedBytes uses the folder's size, and nothing is uploaded any more
	}
	for b, err := range r.engine.blobs.RunBlobs(r.id) {
		if err != nil {
			return err
		}
		if r.blobRefs[b.Digest] == 0 {
			r.addBlobRef(b.Digest, b.Size)
		}
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
