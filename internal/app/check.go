package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/store"
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
	if _, err := os.Stat(dir); err != nil {
		return report, err
	}
	f, err := lockDataFolder(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, f.lock.Unlock()) }()
	has, err := f.hasStore()
	if err != nil {
		return report, err
	}
	if !has {
		return f.checkOldLog()
	}
	blobs, err := blob.Open(f.blobDir())
	if err != nil {
		return report, err
	}
	defer blobs.Close()
	s, err := store.Open(ctx, store.Options{Dir: f.dir, LoadBlob: loadBlob(blobs)})
	if err != nil {
		return report, err
	}
	report.Report, err = s.Check(ctx)
	if err == nil {
		err = report.checkFiles(ctx, blobs)
	}
	return report, errors.Join(err, s.Close())
}

// checkOldLog checks the runs of an earlier version.
func (f *DataFolder) checkOldLog() (report FolderReport, err error) {
	old, err := oldlog.Open(f.logDir())
	if err != nil {
		return report, err
	}
	report.Unmigrated, report.Runs, report.Entries = true, old.Report().Runs, old.Count()
	return report, nil
}

// checkFiles reads all files of runs.
func (r *FolderReport) checkFiles(ctx context.Context, blobs *blob.Store) error {
	for run, err := range blobs.Runs() {
		if err != nil {
			return err
		}
		for b, err := range blobs.RunBlobs(run) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			r.Files++
			if _, err := loadBlob(blobs)(run, b.Digest); err != nil && r.Damaged[run] == "" {
				r.Damaged[run] = fmt.Sprintf("the file %s is damaged: %v", filepath.Join(blobFolder, run, b.Digest), err)
			}
		}
	}
	return nil
}
