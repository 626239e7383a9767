package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/store"
)

// Earlier versions kept runs in the folder log. The first start of this one copies them to a
// store, and leaves log as it is, except that they refuse it from then on.
const (
	logFolder = "log"
	// migratedFile says how many commits the store had after the migration, or undoing.
	migratedFile = "migrated"
	undoing      = "undoing"
)

func (f *DataFolder) logDir() string       { return filepath.Join(f.dir, logFolder) }
func (f *DataFolder) migratedPath() string { return filepath.Join(f.dir, migratedFile) }

// migrate copies the runs of an earlier version to a new store. It may be interrupted anywhere:
// the next call goes on, or begins again.
func (f *DataFolder) migrate(ctx context.Context, logger *slog.Logger) error {
	if err := f.finishChanges(); err != nil {
		return err
	}
	if has, err := f.hasStore(); err != nil {
		return err
	} else if has {
		return os.RemoveAll(f.newStoreDir()) // of a repair
	}
	old, err := oldlog.Open(f.logDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := f.readOldState(slog.New(slog.DiscardHandler)); err != nil { // before the earlier version is kept out
		return err
	}
	if torn := old.Report().TornBytes; torn > 0 {
		logger.Warn("discarding an incomplete append that a crash left at the end of the log", "bytes", torn)
	}
	logger.Info("copying the runs of an earlier version", "runs", old.Report().Runs, "appends", old.Count())
	if err := f.copyOldLog(ctx, old, logger); err != nil {
		return err
	}
	logger.Info("the runs of an earlier version are copied; the folder log isn't needed any more", "undo", "beam migrate --undo, until something is recorded")
	return nil
}

// copyOldLog replaces a log by a store with its runs.
func (f *DataFolder) copyOldLog(ctx context.Context, old *oldlog.Folder, logger *slog.Logger) error {
	progress := newProgress(logger, old.Count())
	return f.replaceOldLog(ctx, logger, func(s *store.Store) error {
		for a, err := range old.Scan(ctx) {
			if err == nil {
				err = appendOld(ctx, s, a)
			}
			if err != nil {
				return err
			}
			progress.add()
			f.reach("an append is copied")
		}
		return nil
	})
}

// replaceOldLog makes earlier versions refuse the log, and puts a store in its place, which fill
// fills.
func (f *DataFolder) replaceOldLog(ctx context.Context, logger *slog.Logger, fill func(*store.Store) error) error {
	if err := atomicfile.MakeDir(f.newStoreDir()); err != nil { // whoever finds it knows that the format may be raised
		return err
	}
	f.reach("the folder is made")
	if err := oldlog.RaiseFormat(f.logDir()); err != nil {
		return err
	}
	f.reach("the format is raised")
	state, err := f.readOldState(logger)
	if err != nil {
		return err
	}
	var commits int64
	err = f.buildStore(ctx, logger, func(s *store.Store) error {
		err := fill(s)
		if err == nil {
			err = f.copyOldState(ctx, state, s.State())
		}
		commits = s.Commits()
		return err
	})
	if err != nil {
		return err
	}
	f.reach("the runs are copied")
	if err := atomicfile.Write(f.migratedPath(), []byte(strconv.FormatInt(commits, 10)+"\n")); err != nil {
		return err
	}
	f.reach("it can be undone")
	return f.installStore("")
}

// Migrate copies the runs of an earlier version, as the next start would. It does nothing if that
// is done. The error wraps [fs.ErrNotExist] if there is no folder, and [ErrFolderInUse] if a
// process owns it.
func Migrate(ctx context.Context, dir string, logger *slog.Logger) error {
	f, err := lockUnchecked(dir)
	if err != nil {
		return err
	}
	return errors.Join(adviseRepair(f.migrate(ctx, logger)), f.blobs.Close(), f.lock.Unlock())
}

// ErrNotMigrated is returned if nothing is to be undone by [UndoMigration].
var ErrNotMigrated = errors.New("the runs in this folder weren't migrated from an earlier version")

// UndoMigration makes a folder one of the earlier version again, which a start of this one has
// migrated, unless something was recorded since. The error wraps [ErrFolderInUse] if a process
// owns the folder, and may be [ErrNotMigrated].
func UndoMigration(ctx context.Context, dir string) (err error) {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	f, err := lockDataFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.lock.Unlock()) }()
	return f.undoMigration(ctx)
}

func (f *DataFolder) undoMigration(ctx context.Context) error {
	state, err := f.migrationState()
	if err != nil || state == undoing {
		return errors.Join(err, f.finishUndo())
	}
	if _, err := os.Stat(f.newStoreDir()); state == "" && errors.Is(err, fs.ErrNotExist) {
		return ErrNotMigrated
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.finishInstall(); err != nil {
		return err
	}
	if has, err := f.hasStore(); err != nil {
		return err
	} else if has {
		if err := f.requireUnchanged(ctx, state); err != nil {
			return err
		}
	}
	if _, err := os.Stat(f.logDir()); err != nil {
		return fmt.Errorf("the log of the earlier version is needed for that: %w", err)
	}
	if err := atomicfile.Write(f.migratedPath(), []byte(undoing)); err != nil {
		return err
	}
	f.reach("it is decided")
	return f.finishUndo()
}

// migrationState returns the content of migratedFile, or "".
func (f *DataFolder) migrationState() (string, error) {
	raw, err := os.ReadFile(f.migratedPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", folderError(err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// finishUndo does what is left of UndoMigration, if a process has begun it.
func (f *DataFolder) finishUndo() error {
	if state, err := f.migrationState(); err != nil || state != undoing {
		return err
	}
	for _, name := range store.Files() {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.reach("removed " + name)
	}
	if err := errors.Join(os.RemoveAll(f.newStoreDir()), atomicfile.SyncDir(f.dir)); err != nil {
		return err
	}
	if err := oldlog.RestoreFormat(f.logDir()); err != nil {
		return err
	}
	f.reach("the format is restored")
	return errors.Join(os.Remove(f.migratedPath()), atomicfile.SyncDir(f.dir))
}

// finishChanges does what killed processes have left of a migration, an undo, or a repair.
func (f *DataFolder) finishChanges() error { return errors.Join(f.finishInstall(), f.finishUndo()) }

// requireUnchanged returns an error if the store has other than so many commits.
func (f *DataFolder) requireUnchanged(ctx context.Context, commits string) error {
	s, err := store.Open(ctx, store.Options{Dir: f.dir})
	if err != nil {
		return err
	}
	now := s.Commits()
	if err := s.Close(); err != nil {
		return err
	}
	if strconv.FormatInt(now, 10) != commits {
		return errors.New("something was recorded since the migration, which would be lost: it can't be undone any more")
	}
	return nil
}
