package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// Data that is too large for the log is in the blob store: the data of large
// entries ("spilled" data) and the bodies of large artifacts.

// maxInlineArtifact is the largest artifact body, in bytes, that is in the log.
const maxInlineArtifact = 64 << 10

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

// storeArtifact moves an artifact's body to the blob store if it is large.
func (w *worker) storeArtifact(a *generators.Artifact) (*generators.Artifact, error) {
	if int64(len(a.Body)) > w.engine.limits.MaxArtifactBytes {
		return nil, toolErrorf("the artifact %q has %d bytes, but at most %d are allowed", truncateText(a.Title), len(a.Body), w.engine.limits.MaxArtifactBytes)
	}
	stored := *a
	stored.Title, stored.Size = truncateText(a.Title), int64(len(a.Body))
	if len(a.Body) <= maxInlineArtifact {
		return &stored, nil
	}
	digest, size, err := w.engine.blobs.Put(w.engine.ctx, w.id, bytes.NewReader(a.Body))
	if err != nil {
		return nil, err
	}
	w.addBlobRef(digest, size)
	stored.Body, stored.Digest = nil, digest
	return &stored, nil
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
