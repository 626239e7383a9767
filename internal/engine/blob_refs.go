package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runlog"
)

// What is too large for a log stands beside it, in the blob store: the data of
// large entries, and the bodies of large artifacts.

// maxInlineArtifact is the largest body that an artifact's entry holds itself.
const maxInlineArtifact = 64 << 10

// spillEntry moves data that is too large for an entry to the blob store.
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

// spillEntries moves what is too large of several entries.
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

// undoSpill takes back what was moved, of entries that were not appended.
func (r *trackedRun) undoSpill(stored, entries []runlog.Entry) {
	for i, e := range stored {
		if e.Blob == entries[i].Blob {
			continue
		}
		size := int64(len(entries[i].Data))
		r.spilledBytes -= size
		if r.removeBlobRef(e.Blob, size) {
			if err := r.engine.blobs.Remove(r.id, e.Blob); err != nil {
				r.engine.logger.Error("removing what was not recorded", "run", r.id, "err", err)
			}
		}
	}
}

// addBlobRef counts one more that names a blob. Callers hold mu.
func (r *trackedRun) addBlobRef(digest string, size int64) {
	if r.blobRefs == nil {
		r.blobRefs = make(map[string]int)
	}
	r.blobRefs[digest]++
	r.blobBytes += size
}

// removeBlobRef counts one less, and tells whether nothing names the blob any more.
// Callers hold mu.
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
		return nil, toolErrorf("the artifact %q has %d bytes, and at most %d are allowed", truncateText(a.Title), len(a.Body), w.engine.limits.MaxArtifactBytes)
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

// loadSpilledData reads an entry's data where it was too large to be in it.
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
