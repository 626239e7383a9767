package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// ErrNotMigrated is returned if nothing is to be undone by [UndoMigration].
var ErrNotMigrated = errors.New("the runs in this folder weren't migrated from an earlier version")

// UndoMigration makes a folder one of the earlier version again, which a start of this one has
// migrated, unless something was recorded since. The error wraps [ErrInUse] if a process owns the
// folder, and may be [ErrNotMigrated].
func UndoMigration(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	f, err := lock(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.undoMigration(ctx), f.unlock())
}

func (f *lockedFolder) undoMigration(ctx context.Context) error {
	state, err := f.migrationState()
	if err != nil || state == undoing {
		return errors.Join(err, f.finishUndo())
	}
	if begun, err := exists(f.path(newStoreFolder)); err != nil {
		return err
	} else if !begun && state == "" {
		return ErrNotMigrated
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
	if _, err := os.Stat(f.path(logFolder)); err != nil {
		return fmt.Errorf("the log of the earlier version is needed for that: %w", err)
	}
	if err := atomicfile.Write(f.path(migratedFile), []byte(undoing)); err != nil {
		return err
	}
	f.reach("it is decided")
	return f.finishUndo()
}

// migrationState returns the content of migratedFile, or "".
func (l *layout) migrationState() (string, error) {
	raw, err := os.ReadFile(l.path(migratedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", folderError(err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// finishUndo does what is left of UndoMigration, if a process has begun it.
func (f *lockedFolder) finishUndo() error {
	if state, err := f.migrationState(); err != nil || state != undoing {
		return err
	}
	for _, name := range sqlite.FileNames() {
		if err := os.RemoveAll(f.path(name)); err != nil {
			return err
		}
		f.reach("removed " + name)
	}
	if err := errors.Join(os.RemoveAll(f.path(newStoreFolder)), atomicfile.SyncDir(f.Dir)); err != nil {
		return err
	}
	if err := oldlog.RestoreFormat(f.path(logFolder)); err != nil {
		return err
	}
	f.reach("the format is restored")
	return errors.Join(os.Remove(f.path(migratedFile)), atomicfile.SyncDir(f.Dir))
}

// requireUnchanged returns an error if the store has other than so many commits.
func (f *lockedFolder) requireUnchanged(ctx context.Context, commits string) error {
	s, err := store.Open(ctx, store.Options{Dir: f.Dir})
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
