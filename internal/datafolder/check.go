package datafolder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/web/identity"
)

// A Report is what [Check] has found.
type Report struct {
	store.Report
	// Files is how many files of runs there are.
	Files int
	// Unmigrated means that the runs are those of an earlier version, which are migrated at
	// the next start.
	Unmigrated bool
}

// Check reads everything in a data folder and reports what is damaged. It changes no run.
// The error wraps [fs.ErrNotExist] if there are no runs, [ErrInUse] if a process owns the
// folder, and [runlog.ErrCorrupt] if the runs can't be opened.
func Check(ctx context.Context, dir string) (Report, error) {
	f, err := lockUnchecked(dir)
	if err != nil {
		return Report{}, err
	}
	report, err := f.check(ctx, f.Dir)
	return report, errors.Join(err, f.unlock())
}

// CheckDatabase is [Check] for the folder's database, which replicas may use meanwhile.
func (f *Folder) CheckDatabase(ctx context.Context, logger *slog.Logger) (report Report, err error) {
	s, err := f.OpenStore(ctx, store.SyncDefault, logger)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if report.Report, err = s.shared.Check(ctx); err != nil {
		return report, err
	}
	if _, err := f.KeyStore(s.State).Check(ctx); err != nil {
		report.Problems = append(report.Problems, err.Error())
	}
	if err := f.checkFiles(ctx, &report); err != nil {
		return report, err
	}
	// Files of runs that were deleted meanwhile are gone.
	for _, id := range slices.Concat(slices.Collect(maps.Keys(report.Damaged)), slices.Collect(maps.Keys(report.MissingFiles))) {
		if _, err := s.Row(ctx, id); errors.Is(err, runlog.ErrNotFound) {
			delete(report.Damaged, id)
			delete(report.MissingFiles, id)
		}
	}
	return report, nil
}

// check checks the folder, with its store in dir.
func (f *lockedFolder) check(ctx context.Context, dir string) (report Report, err error) {
	has, err := f.hasStore()
	if err == nil && !has {
		report, err = f.checkOldLog()
	} else if err == nil {
		report.Report, err = f.checkStore(ctx, dir)
	}
	if err != nil {
		return report, err
	}
	return report, f.checkFiles(ctx, &report)
}

// checkFiles adds to a report which files of runs are damaged.
func (f *lockedFolder) checkFiles(ctx context.Context, report *Report) error {
	if report.Damaged == nil {
		report.Damaged = make(map[string]string)
	}
	return f.eachFile(ctx, func(run, digest string, err error) {
		report.Files++
		if err != nil && report.Damaged[run] == "" {
			report.Damaged[run] = err.Error()
		}
	})
}

func (f *lockedFolder) checkStore(ctx context.Context, dir string) (report store.Report, err error) {
	s, err := store.Open(ctx, store.Options{Dir: dir, Blobs: f.Blobs})
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
func (f *lockedFolder) checkOldLog() (report Report, err error) {
	old, err := oldlog.Open(f.path(logFolder))
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
func (f *lockedFolder) eachFile(ctx context.Context, do func(run, digest string, damage error)) error {
	for run, err := range f.Blobs.Runs() {
		if err != nil {
			return err
		}
		for b, err := range f.Blobs.RunBlobs(run) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			err := f.Blobs.Verify(run, b.Digest)
			if trimmed := f.Blobs.Trim(0); trimmed != nil { // its copy, if it is elsewhere
				return trimmed
			}
			name := filepath.Join(blobFolder, run, b.Digest)
			if errors.Is(err, blob.ErrNotFound) {
				continue // removed meanwhile
			}
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, runlog.ErrUnavailable) {
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
