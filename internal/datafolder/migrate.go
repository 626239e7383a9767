package datafolder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strconv"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// Earlier versions kept runs in the folder log. The first start of this one copies them to a
// store, and leaves log as it is, except that they refuse it from then on.
const (
	// migratedFile says how many commits the store had after the migration, or undoing.
	migratedFile = "migrated"
	undoing      = "undoing"
)

// A migration copies the runs of an earlier version to a new store.
type migration struct {
	*lockedFolder
	logger *slog.Logger
}

// run may be interrupted anywhere: the next call goes on, or begins again.
func (m *migration) run(ctx context.Context) error {
	if err := m.finishChanges(); err != nil {
		return err
	}
	if has, err := m.hasStore(); err != nil {
		return err
	} else if has {
		return os.RemoveAll(m.path(newStoreFolder)) // of a repair
	}
	old, err := oldlog.Open(m.path(logFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := readOldFiles(&m.layout, slog.New(slog.DiscardHandler)); err != nil { // before the earlier version is kept out
		return err
	}
	if torn := old.Report().TornBytes; torn > 0 {
		m.logger.Warn("discarding an incomplete append that a crash left at the end of the log", "bytes", torn)
	}
	m.logger.Info("copying the runs of an earlier version", "runs", old.Report().Runs, "appends", old.Count())
	err = m.replaceLog(ctx, func(s *store.Store) error {
		return m.copyRuns(ctx, s, old, m.logger, func(a runlog.AppendedEntries) int {
			m.reach("an append is read")
			return len(a.Entries)
		})
	})
	if err != nil {
		return err
	}
	m.logger.Info("the runs of an earlier version are copied; the folder log isn't needed any more", "undo", "beam migrate --undo, until something is recorded")
	return nil
}

// replaceLog makes earlier versions refuse the log, and puts a store in its place, which fill
// fills.
func (m *migration) replaceLog(ctx context.Context, fill func(*store.Store) error) error {
	if err := atomicfile.MakeDir(m.path(newStoreFolder)); err != nil { // whoever finds it knows that the format may be raised
		return err
	}
	m.reach("the folder is made")
	if err := oldlog.RaiseFormat(m.path(logFolder)); err != nil {
		return err
	}
	m.reach("the format is raised")
	old, err := readOldFiles(&m.layout, m.logger)
	if err != nil {
		return err
	}
	var commits int64
	err = m.buildStore(ctx, m.logger, func(s *store.Store) error {
		err := fill(s)
		if err == nil {
			err = old.copyTo(ctx, s.State())
		}
		commits = s.Commits()
		return err
	})
	if err != nil {
		return err
	}
	m.reach("the runs are copied")
	if err := atomicfile.Write(m.path(migratedFile), []byte(strconv.FormatInt(commits, 10)+"\n")); err != nil {
		return err
	}
	m.reach("it can be undone")
	return m.installStore("")
}

// Migrate copies the runs of an earlier version, as the next start would. It does nothing if that
// is done. The error wraps [fs.ErrNotExist] if there is no folder, and [ErrInUse] if a process
// owns it. A nil progress logs how far it has come.
func Migrate(ctx context.Context, dir string, logger *slog.Logger, progress Progress) error {
	f, err := lockUnchecked(dir)
	if err != nil {
		return err
	}
	f.Progress = progress
	m := migration{f, logger}
	return errors.Join(adviseRepair(m.run(ctx)), f.unlock())
}
