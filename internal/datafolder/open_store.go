package datafolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/photon-beam/beam/internal/engine/files"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
)

// A Store is the open store of a folder. The caller must close it.
type Store struct {
	runlist.Store
	State smallstate.Store
	// Worker is the id of this process among those that share the store, and Sharing what they tell
	// each other; nil if none do.
	Worker  string
	Sharing *store.Sharing
	Keys    *keyring.Keyring // of secret answers; nil if they are in the folder
	Close   func() error

	shared *store.Store // the store, if it is in a database; nil otherwise
}

// OpenStore opens the folder's store: on disk, or in memory for a temporary folder. What an
// earlier version kept is migrated first.
func (f *Folder) OpenStore(ctx context.Context, sync store.Sync, logger *slog.Logger) (*Store, error) {
	if f.database != nil {
		return f.database.open(ctx, f.Blobs, logger)
	}
	if f.Temporary {
		state := f.sharedKeys
		if state == nil {
			state = smallstate.NewMemory()
		}
		return &Store{Store: runlist.NewMemory(runlog.NewMemory(), files.Loader(f.Blobs)), State: state, Close: func() error { return nil }}, nil
	}
	s, err := f.openStore(ctx, sync, logger)
	if err != nil {
		return nil, err
	}
	return &Store{Store: s, State: s.State(), Close: s.Close}, nil
}

func (f *lockedFolder) openStore(ctx context.Context, sync store.Sync, logger *slog.Logger) (*store.Store, error) {
	m := migration{f, logger}
	if err := m.run(ctx); err != nil {
		return nil, fmt.Errorf("can't copy the runs of an earlier version: %w", adviseRepair(err))
	}
	if err := f.requireRuns(); err != nil {
		return nil, err
	}
	old, err := readOldFiles(&f.layout, logger)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Options{Dir: f.Dir, Sync: sync, Blobs: f.Blobs, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("can't open the runs in the data folder: %w", adviseRepair(err))
	}
	if err := old.adopt(ctx, s); err != nil {
		return nil, errors.Join(fmt.Errorf("can't copy the files of an earlier version: %w", err), s.Close())
	}
	return s, nil
}

// WithStore opens the store on disk for work that runs no photons, calls do, and closes the
// store.
func (f *lockedFolder) WithStore(ctx context.Context, logger *slog.Logger, do func(*store.Store) error) error {
	s, err := f.openStore(ctx, store.SyncInterval, logger)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// adviseRepair adds to an error what can be done if it is that the runs are damaged.
func adviseRepair(err error) error {
	if errors.Is(err, runlog.ErrCorrupt) {
		err = fmt.Errorf("%w: restore a backup, or let the command repair copy what can be read", err)
	}
	return err
}
