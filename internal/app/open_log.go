package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// openLog opens the folder's log: on disk, or in memory for a temporary folder.
func (f *DataFolder) openLog(ctx context.Context, syncAlways bool, logger *slog.Logger) (runlog.Log, func() error, error) {
	if f.temporary {
		return runlog.NewMemory(), func() error { return nil }, nil
	}
	l, err := jetstream.Open(ctx, jetstream.Options{Dir: f.logDir(), SyncAlways: syncAlways, Logger: logger})
	if err != nil {
		return nil, nil, fmt.Errorf("can't open the log in the data folder: %w", err)
	}
	return l, l.Close, nil
}

// openOrRecoverLog is openLog, but if the log is damaged, it replaces the log with
// what can be read of it.
func (f *DataFolder) openOrRecoverLog(ctx context.Context, syncAlways bool, logger *slog.Logger) (runlog.Log, func() error, error) {
	l, closeLog, err := f.openLog(ctx, syncAlways, logger)
	if !errors.Is(err, jetstream.ErrCorrupt) {
		return l, closeLog, err
	}
	report, err := jetstream.Recover(ctx, jetstream.Options{Dir: f.logDir(), Logger: logger})
	if err != nil {
		return nil, nil, fmt.Errorf("can't recover the damaged log: %w", err)
	}
	logger.Warn("the log was damaged, and the loss is accepted", "damage", report.Damage, "kept", report.Summary(),
		"holed", slices.Sorted(maps.Keys(report.Truncated)), "gone", report.Headless, "aside", report.DamagedDir)
	return f.openLog(ctx, syncAlways, logger)
}

// withLog opens the log for work that runs no photons, calls do, and closes the
// log. The caller owns the folder.
func (f *DataFolder) withLog(ctx context.Context, logger *slog.Logger, do func(runlog.Log) error) error {
	l, closeLog, err := f.openLog(ctx, false, logger)
	if err != nil {
		return err
	}
	return errors.Join(do(l), closeLog())
}

// CheckLog reads the log in a data folder and reports what is damaged. It changes
// nothing. The error wraps [fs.ErrNotExist] if there is no log, and
// [ErrFolderInUse] if a process owns the folder.
func CheckLog(dir string) (jetstream.Report, error) {
	unlock, err := lockForReading(dir)
	if err != nil {
		return jetstream.Report{}, err
	}
	report, err := jetstream.Check(filepath.Join(dir, logFolder))
	return report, errors.Join(err, unlock())
}
