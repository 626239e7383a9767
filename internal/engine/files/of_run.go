package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlog"
)

// OfRun are the files of one run. The lock of the run guards it.
type OfRun struct {
	files *Files
	run   string
	owner func() string // of the run
	bytes int64         // since the run began here, or Measure
}

// OfRun returns the files of a run; owner returns the id of its owner.
func (f *Files) OfRun(run string, owner func() string) OfRun {
	return OfRun{files: f, run: run, owner: owner}
}

// Bytes returns how many bytes were stored.
func (r *OfRun) Bytes() int64 { return r.bytes }

// Measure lets Bytes begin with what is stored now.
func (r *OfRun) Measure() { r.bytes = r.files.Size(r.run) }

// add counts bytes that were stored, or deleted if n is negative.
func (r *OfRun) add(n int64) {
	r.bytes += n
	r.files.disk.Add(r.owner(), n)
}

// Store stores content, if the run's owner has the disk for it. The error may be a
// [*budget.ExceededError].
func (r *OfRun) Store(ctx context.Context, content []byte) (digest string, err error) {
	n := int64(len(content))
	if err := r.files.disk.Take(r.owner(), n); err != nil {
		return "", err
	}
	defer r.files.disk.Add(r.owner(), -n) // add counts it
	return r.put(ctx, content)
}

func (r *OfRun) put(ctx context.Context, content []byte) (digest string, err error) {
	digest, size, err := r.files.blobs.Put(ctx, r.run, bytes.NewReader(content))
	if err == nil {
		r.add(size)
	}
	return digest, err
}

// Spill returns entries without the data that is too large for the log, which it stores. If that
// fails for one, none is stored.
func (r *OfRun) Spill(ctx context.Context, entries []runlog.Entry) ([]runlog.Entry, error) {
	stored := slices.Clone(entries)
	for i, e := range entries {
		if len(e.Data) <= runlog.MaxEntryData {
			continue
		}
		digest, err := r.put(ctx, e.Data)
		if err != nil {
			r.Unspill(stored[:i], entries)
			return nil, fmt.Errorf("storing a large %s: %w", e.Kind, err)
		}
		stored[i].Data, stored[i].Blob = nil, digest
	}
	return stored, nil
}

// Unspill deletes what Spill stored for entries that were not appended.
func (r *OfRun) Unspill(stored, entries []runlog.Entry) {
	for i, e := range stored {
		if e.Blob == entries[i].Blob {
			continue
		}
		if err := r.Remove(e.Blob, int64(len(entries[i].Data))); err != nil {
			r.files.logger.Error("deleting the blob of an entry that was not recorded", "run", r.run, "err", err)
		}
	}
}

// Remove deletes a file to which no entry came to refer, unless another entry refers to the
// same content, or somebody has uploaded it.
func (r *OfRun) Remove(digest string, size int64) error {
	r.add(-size)
	if r.files.uploads.has(r.run, digest) {
		return nil
	}
	for batch, err := range r.files.log.Read(context.Background(), r.run, 0) {
		if err != nil {
			return err
		}
		for _, entry := range batch {
			if entry.Blob == digest {
				return nil
			}
			entry, err := r.files.Load(r.run, entry)
			if err != nil {
				return err
			}
			if refs, err := entry.Blobs(); err != nil || slices.Contains(refs, digest) {
				return err
			}
		}
	}
	return r.files.blobs.Remove(r.run, digest)
}

// OpenerOf returns a function that opens the files of an answer by digest.
func (r *OfRun) OpenerOf(answered []askdata.FileRef) func(digest string) (io.ReadCloser, error) {
	files, run := r.files, r.run
	return func(digest string) (io.ReadCloser, error) {
		name := "an uploaded file"
		for _, f := range answered {
			if f.Digest == digest {
				name = fmt.Sprintf("the uploaded file %q", f.Name)
			}
		}
		return files.Open(run, digest, name)
	}
}
