// Package files keeps what is too large for the logs of runs: the data of large entries
// ("spilled" data), the bodies of large artifacts and results, and what people upload. It counts
// what that takes for the owners of the runs.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"

	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
)

// Files are the files of all runs of a log. The methods may be called from several goroutines.
type Files struct {
	blobs   *blob.Store // nil if there are none
	log     runlog.Log
	disk    *budget.Budget // in bytes
	logger  *slog.Logger
	uploads uploads
}

// New returns the files of the runs of a log. What they take is counted in disk.
func New(blobs *blob.Store, l runlog.Log, disk *budget.Budget, logger *slog.Logger) *Files {
	return &Files{blobs: blobs, log: l, disk: disk, logger: logger}
}

// Size returns how many bytes a run's files have.
func (f *Files) Size(run string) int64 {
	if f.blobs == nil {
		return 0
	}
	n, err := f.blobs.RunSize(run)
	if err != nil {
		f.logger.Error("measuring the files of a run", "run", run, "err", err)
	}
	return n
}

// ChangeOwner counts a run's files for another owner.
func (f *Files) ChangeOwner(run, from, to string) {
	n := f.Size(run)
	f.disk.Add(from, -n)
	f.disk.Add(to, n)
}

// Delete deletes the files of a run, which no longer exists.
func (f *Files) Delete(run, owner string) {
	f.disk.Add(owner, -f.Size(run))
	if err := f.blobs.DeleteRun(run); err != nil {
		f.logger.Error("deleting a run's files", "run", run, "err", err)
	}
}

// Count counts the files of all runs for their owners. It deletes those of runs that don't exist,
// of which ownerOf returns [runlog.ErrNotFound]: a process was killed before it came to that, or
// before it recorded their start. It leaves those alone that are unreadable.
func (f *Files) Count(ownerOf func(run string) (string, error), unreadable map[string]error) error {
	if f.blobs == nil {
		return nil
	}
	for run, err := range f.blobs.Runs() {
		if err != nil {
			return err
		}
		switch owner, err := ownerOf(run); {
		case err == nil:
			f.disk.Add(owner, f.Size(run))
		case !errors.Is(err, runlog.ErrNotFound):
			return err
		case unreadable[run] == nil:
			f.logger.Info("deleting the files of a run that doesn't exist", "run", run)
			if err := f.blobs.DeleteRun(run); err != nil { // the others count all the same
				f.logger.Error("deleting the files of a run that doesn't exist", "run", run, "err", err)
			}
		}
	}
	return nil
}

// Open opens a file of a run by its digest; name is what people call it. If it is damaged, the
// error, or that of reading it, is a [*runlog.DamagedError], which is logged.
func (f *Files) Open(run, digest, name string) (io.ReadSeekCloser, error) {
	return open(f.blobs, run, digest, name, func(reason error) {
		if f.exists(run) { // otherwise it has been deleted
			f.logger.Error("a stored file is damaged", "run", run, "file", name, "blob", digest, "err", reason)
		}
	})
}

func (f *Files) exists(run string) bool {
	for range f.log.Read(context.Background(), run, 0) {
		return true
	}
	return false
}

func open(blobs *blob.Store, run, digest, name string, damaged func(reason error)) (io.ReadSeekCloser, error) {
	return blobs.OpenVerified(run, digest, func(reason error) error {
		damaged(reason)
		return &runlog.DamagedError{Run: run, File: name, Err: reason}
	})
}

// Load returns an entry with its data, even if that was too large for the log.
func (f *Files) Load(run string, entry runlog.Entry) (runlog.Entry, error) {
	return load(run, entry, f.Open)
}

func load(run string, entry runlog.Entry, open func(run, digest, name string) (io.ReadSeekCloser, error)) (runlog.Entry, error) {
	if entry.Blob == "" {
		return entry, nil
	}
	file, err := open(run, entry.Blob, fmt.Sprintf("entry %d (%s)", entry.Seq, entry.Kind))
	if err != nil {
		return entry, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(file)
	entry.Data, entry.Blob = b.Bytes(), ""
	return entry, errors.Join(err, file.Close())
}

// Read yields the batches of a run's log after an ordinal, with all data. An entry whose data is
// damaged says so.
func (f *Files) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return f.LoadEach(run, f.log.Read(ctx, run, after))
}

// ReadEntry is LoadEntry, but returns an entry that says so if the data is damaged.
func (f *Files) ReadEntry(ctx context.Context, run string, seq uint64) (runlog.Entry, error) {
	return tellDamage(f.LoadEntry(ctx, run, seq))
}

// LoadEntry returns an entry of a run, with all its data. The error is [runlog.ErrNotFound] if
// there is no such entry, or the log's, or a [*runlog.DamagedError].
func (f *Files) LoadEntry(ctx context.Context, run string, seq uint64) (runlog.Entry, error) {
	if seq == 0 {
		return runlog.Entry{}, runlog.ErrNotFound
	}
	for batch, err := range f.log.Read(ctx, run, seq-1) {
		if err != nil {
			return runlog.Entry{}, err
		}
		if len(batch) > 0 && batch[0].Seq == seq {
			return f.Load(run, batch[0])
		}
		break
	}
	return runlog.Entry{}, runlog.ErrNotFound
}

// LoadEach yields batches of a run's log as [Files.Read] does.
func (f *Files) LoadEach(run string, batches iter.Seq2[[]runlog.Entry, error]) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		for batch, err := range batches {
			if err == nil && slices.ContainsFunc(batch, func(e runlog.Entry) bool { return e.Blob != "" }) {
				batch = slices.Clone(batch)
				for i := 0; i < len(batch) && err == nil; i++ {
					batch[i], err = tellDamage(f.Load(run, batch[i]))
				}
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}
