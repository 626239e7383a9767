package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/web/identity"
)

// A FolderReport is what [CheckFolder] has found.
type FolderReport struct {
	store.Report
	// Files is how many files of runs there are.
	Files int
	// Unmigrated means that the runs are those of an earlier version, which are migrated at
	// the next start.
	Unmigrated bool
}

// CheckFolder reads everything in a data folder and reports what is damaged. It changes no run.
// The error wraps [fs.ErrNotExist] if there are no runs, [ErrFolderInUse] if a process owns the
// folder, and [runlog.ErrCorrupt] if the runs can't be opened.
func CheckFolder(ctx context.Context, dir string) (report FolderReport, err error) {
	f, err := lockUnchecked(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, f.blobs.Close(), f.lock.Unlock()) }()
	return f.check(ctx, f.dir)
}

// lockUnchecked locks a folder for work on runs that may be damaged. The error wraps
// [fs.ErrNotExist] if there is no folder.
func lockUnchecked(dir string) (*DataFolder, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	f, err := lockDataFolder(dir)
	if err != nil {
		return nil, err
	}
	err = f.checkRestored()
	if err == nil {
		err = f.finishChanges()
	}
	if err == nil {
		f.blobs, err = blob.Open(f.blobDir())
	}
	if err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
	}
	return f, nil
}

// check checks the folder, with its store in dir.
func (f *DataFolder) check(ctx context.Context, dir string) (report FolderReport, err error) {
	has, err := f.hasStore()
	if err == nil && !has {
		report, err = f.checkOldLog()
	} else if err == nil {
		report.Report, err = f.checkStore(ctx, dir)
	}
	if err != nil {
		return report, err
	}
	if report.Damaged == nil {
		report.Damaged = make(map[string]string)
	}
	return report, f.eachFile(ctx, func(run, digest string, err error) {
		report.Files++
		if err != nil && report.Damaged[run] == "" {
			report.Damaged[run] = err.Error()
		}
	})
}

func (f *DataFolder) checkStore(ctx context.Context, dir string) (report store.Report, err error) {
	s, err := store.Open(ctx, store.Options{Dir: dir, Blobs: f.blobs})
	if err != nil {
		return report, err
	}
	report, err = s.Check(ctx)
	_, keysErr := f.keyStore(s.State()).Check(ctx)
	if sealed, ok := errors.AsType[*identity.SealError](keysErr); ok {
		report.Problems = append(report.Problems, sealed.Error())
	}
	return report, errors.Join(err, s.Close())
}

// checkOldLog checks the runs of an earlier version.
func (f *DataFolder) checkOldLog() (report FolderReport, err error) {
	old, err := oldlog.Open(f.logDir())
	if errors.Is(err, fs.ErrNotExist) {
		err = cmp.Or(f.requireRuns(), err)
	}
	if err != nil {
		return report, err
	}
	report.Unmigrated, report.Runs, report.Entries = true, old.Report().Runs, old.Count()
	return report, nil
}

// eachFile reads all files of runs, and passes do why one is damaged.
func (f *DataFolder) eachFile(ctx context.Context, do func(run, digest string, damage error)) error {
	for run, err := range f.blobs.Runs() {
		if err != nil {
			return err
		}
		for b, err := range f.blobs.RunBlobs(run) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			err := f.verifyFile(run, b.Digest)
			name := filepath.Join(blobFolder, run, b.Digest)
			if errors.Is(err, fs.ErrPermission) {
				return fmt.Errorf("%s can't be read: %w", name, err)
			}
			if err != nil {
				err = fmt.Errorf("the file %s is damaged: %w", name, err)
			}
			do(run, b.Digest, err)
		}
	}
	return nil
}

func (f *DataFolder) verifyFile(run, digest string) error {
	file, err := f.blobs.OpenVerified(run, digest, func(reason error) error { return reason })
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return errors.Join(err, file.Close())
}
