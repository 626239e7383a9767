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
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// Earlier versions kept runs in the folder log. The first start of this one copies them to a
// store, and leaves log as it is, except that they refuse it from then on.
const (
	logFolder       = "log"
	migratingFolder = "migrating" // a store that is not complete
	// migratedFile says how many commits the store had after the migration.
	migratedFile = "migrated"
)

func (f *DataFolder) logDir() string       { return filepath.Join(f.dir, logFolder) }
func (f *DataFolder) migratingDir() string { return filepath.Join(f.dir, migratingFolder) }

// storeName is the file of a store that is moved into the folder last.
const storeName = "beam.db"

// migrate copies the runs of an earlier version to a new store. It may be interrupted anywhere:
// the next call goes on, or begins again.
func (f *DataFolder) migrate(ctx context.Context, logger *slog.Logger) error {
	if _, err := os.Stat(filepath.Join(f.dir, storeName)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.RemoveAll(f.migratingDir()))
	}
	if has, err := f.hasStore(); err != nil || has { // its mark: the last step is left
		_, newErr := os.Stat(filepath.Join(f.migratingDir(), storeName))
		if err != nil || newErr != nil {
			return err // store.Open says what is wrong
		}
		return f.moveStore()
	}
	old, err := oldlog.Open(f.logDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if torn := old.Report().TornBytes; torn > 0 {
		logger.Warn("discarding an incomplete append that a crash left at the end of the log", "bytes", torn)
	}
	if err := oldlog.RaiseFormat(f.logDir()); err != nil {
		return err
	}
	if err := os.RemoveAll(f.migratingDir()); err != nil {
		return err
	}
	logger.Info("copying the runs of an earlier version", "runs", old.Report().Runs, "appends", old.Count())
	if err := f.copyOldLog(ctx, old, logger); err != nil {
		return err
	}
	logger.Info("the runs of an earlier version are copied; the folder log isn't needed any more")
	return f.moveStore()
}

// copyOldLog copies the runs to a store in migratingDir.
func (f *DataFolder) copyOldLog(ctx context.Context, old *oldlog.Folder, logger *slog.Logger) error {
	s, err := store.Open(ctx, store.Options{Dir: f.migratingDir(), Sync: store.SyncInterval, LoadBlob: loadBlob(f.blobs), Logger: logger})
	if err != nil {
		return err
	}
	done, told := 0, time.Now()
	for a, err := range old.Scan(ctx) {
		if err == nil {
			err = appendOld(ctx, s, a)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
		if done++; time.Since(told) > 2*time.Second {
			told = time.Now()
			logger.Info("copying the runs of an earlier version", "done", fmt.Sprintf("%d %%", 100*done/old.Count()))
		}
	}
	commits := s.Commits()
	if err := s.Close(); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(f.dir, migratedFile), []byte(strconv.FormatInt(commits, 10)+"\n"))
}

// appendOld appends what an earlier version did. Its runs may have the same idempotency key:
// the first is found by it.
func appendOld(ctx context.Context, s *store.Store, a runlog.AppendedEntries) error {
	after := a.Entries[0].Seq - 1
	_, err := s.Append(ctx, a.Run, after, a.Entries...)
	var duplicate *store.DuplicateStartError
	if !errors.As(err, &duplicate) {
		return err
	}
	started, err := runlog.Decode[runlog.Started](a.Entries[0])
	if err != nil {
		return err
	}
	started.IdempotencyKey = ""
	first := runlog.NewEntry(runlog.KindStarted, started)
	first.Time = a.Entries[0].Time
	_, err = s.Append(ctx, a.Run, after, append([]runlog.Entry{first}, a.Entries[1:]...)...)
	return err
}

// moveStore moves the store from migratingDir into the folder, the database last.
func (f *DataFolder) moveStore() error {
	for _, name := range append(store.Files(), storeName) {
		if name == storeName {
			continue
		}
		if err := f.moveFile(name); err != nil {
			return err
		}
	}
	if err := f.moveFile(storeName); err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(f.dir), os.RemoveAll(f.migratingDir()))
}

// moveFile moves a file of the store, unless that was done.
func (f *DataFolder) moveFile(name string) error {
	err := os.Rename(filepath.Join(f.migratingDir(), name), filepath.Join(f.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ErrNotMigrated is returned if nothing is to be undone by [UndoMigration].
var ErrNotMigrated = errors.New("the runs in this folder weren't migrated from an earlier version")

// UndoMigration makes a folder one of the earlier version again, which a start of this one has
// migrated, unless something was recorded since. The error wraps [ErrFolderInUse] if a process
// owns the folder, and may be [ErrNotMigrated].
func UndoMigration(ctx context.Context, dir string) (err error) {
	f, err := lockDataFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.lock.Unlock()) }()
	raw, err := os.ReadFile(filepath.Join(f.dir, migratedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotMigrated
	}
	if err != nil {
		return err
	}
	if has, err := f.hasStore(); err != nil {
		return err
	} else if has {
		if err := f.requireUnchanged(ctx, strings.TrimSpace(string(raw))); err != nil {
			return err
		}
	}
	if err := oldlog.RestoreFormat(f.logDir()); err != nil {
		return err
	}
	for _, name := range append(store.Files(), migratedFile) {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return atomicfile.SyncDir(f.dir)
}

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
