package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
)

// A folderStore is an open store of a folder.
type folderStore struct {
	runlist.Store
	state smallstate.Store
	close func() error
}

// openStore opens the folder's store: on disk, or in memory for a temporary folder. What an
// earlier version kept is migrated first.
func (f *DataFolder) openStore(ctx context.Context, sync store.Sync, logger *slog.Logger) (*folderStore, error) {
	if f.temporary {
		state := f.shared
		if state == nil {
			state = smallstate.NewMemory()
		}
		return &folderStore{runlist.NewMemory(runlog.NewMemory(), files.Loader(f.blobs)), state, func() error { return nil }}, nil
	}
	if err := f.migrate(ctx, logger); err != nil {
		return nil, fmt.Errorf("can't copy the runs of an earlier version: %w", adviseRepair(err))
	}
	if err := f.requireRuns(); err != nil {
		return nil, err
	}
	old, err := f.readOldState(logger)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Options{Dir: f.dir, Sync: sync, Blobs: f.blobs, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("can't open the runs in the data folder: %w", adviseRepair(err))
	}
	if err := f.adoptOldState(ctx, old, s); err != nil {
		return nil, errors.Join(fmt.Errorf("can't copy the files of an earlier version: %w", err), s.Close())
	}
	return &folderStore{s, s.State(), s.Close}, nil
}

// adviseRepair adds to an error what can be done if it is that the runs are damaged.
func adviseRepair(err error) error {
	if errors.Is(err, runlog.ErrCorrupt) {
		err = fmt.Errorf("%w: restore a backup, or let the command repair copy what can be read", err)
	}
	return err
}

// requireRuns returns an error if the folder has what belongs to runs, but no runs: their files
// may be on a volume that isn't mounted.
func (f *DataFolder) requireRuns() error {
	if has, err := f.hasStore(); has || err != nil {
		return err
	}
	for _, dir := range []string{f.blobDir(), f.keyDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return folderError(err)
		}
		if len(entries) > 0 {
			return fmt.Errorf("%w: %s has files of runs, but %s has no runs: if they are on a volume of their own, mount it; to start anew, move the files away", runlog.ErrCorrupt, dir, f.dir)
		}
	}
	return nil
}

// hasStore reports whether the folder has a file of a store.
func (f *DataFolder) hasStore() (bool, error) {
	for _, name := range store.Files() {
		_, err := os.Stat(filepath.Join(f.dir, name))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// withStore opens the store for work that runs no photons, calls do, and closes the
// store. The caller owns the folder.
func (f *DataFolder) withStore(ctx context.Context, logger *slog.Logger, do func(*folderStore) error) error {
	s, err := f.openStore(ctx, store.SyncInterval, logger)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.close())
}
