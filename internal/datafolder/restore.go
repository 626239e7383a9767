package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/engine/keyring"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// restoreMarkFile is the name of a file in a folder that is being restored. A
// folder that has it can't be opened.
const restoreMarkFile = "restoring"

// Restore creates the data folder dir from a backup. dir must be empty or not
// exist. If Restore returns an error, it has removed what it restored. If partial is set, what
// comes before the damage of a damaged backup is restored: damage is what is wrong. Runs that
// would go on by themselves end then, as they may lack what they did last.
func Restore(ctx context.Context, dir string, r io.Reader, partial bool, logger *slog.Logger) (sum backup.Summary, damage, err error) {
	f, err := prepareRestore(dir)
	if err != nil {
		return sum, nil, err
	}
	if err = f.openBlobs(); err == nil {
		sum, damage, err = f.restoreFrom(ctx, r, partial, logger)
		err = errors.Join(err, f.Blobs.Close())
	}
	if err != nil {
		return sum, nil, errors.Join(fmt.Errorf("nothing is restored: %w", err), f.removeRestored(), f.lock.Unlock())
	}
	return sum, damage, errors.Join(f.unmarkRestored(), f.lock.Unlock())
}

// prepareRestore locks an empty folder and marks it.
func prepareRestore(dir string) (*lockedFolder, error) {
	if err := requireEmpty(dir); err != nil {
		return nil, err
	}
	f, err := lock(dir)
	if err != nil {
		return nil, err
	}
	err = requireEmpty(f.Dir) // again, now that no other process can restore to it
	if err == nil {
		err = f.markRestoring()
	}
	if err != nil {
		return nil, errors.Join(err, f.unlock())
	}
	return f, nil
}

// requireEmpty returns an error if the folder dir contains anything but what a
// file system or an earlier lock leaves there.
func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // it doesn't exist, or locking it reports why
	}
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != "lost+found" {
			return fmt.Errorf("the folder %s is not empty: restore a backup to an empty folder", dir)
		}
	}
	return nil
}

// checkRestored returns an error if the folder contains part of a backup.
func (l *layout) checkRestored() error {
	if found, err := exists(l.path(restoreMarkFile)); err != nil {
		return folderError(err)
	} else if !found {
		return nil
	}
	return fmt.Errorf("the data folder %s contains part of a backup, because the restore was interrupted: delete the contents of the folder and restore the backup again", l.Dir)
}

// markRestoring prevents the folder from being opened, even after a loss of
// power.
func (f *lockedFolder) markRestoring() error {
	m, err := os.OpenFile(f.path(restoreMarkFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(m.Sync(), m.Close(), atomicfile.SyncDir(f.Dir))
}

// restoreFrom fills the folder from a backup.
func (f *lockedFolder) restoreFrom(ctx context.Context, r io.Reader, partial bool, logger *slog.Logger) (sum backup.Summary, damage, err error) {
	err = f.WithStore(ctx, logger, func(s *store.Store) error {
		sum, damage, err = restoreParts(ctx, r, partial, s, f.backupParts(s, s.State()))
		return err
	})
	return sum, damage, err
}

// restoreParts fills a store, and the parts that belong to it, from a backup.
func restoreParts(ctx context.Context, r io.Reader, partial bool, s runlist.Store, p backup.Parts) (sum backup.Summary, damage, err error) {
	unsure := ""
	sum, err = backup.Restore(ctx, r, p)
	if partial && sum.Runs > 0 && (errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrTruncated)) {
		damage, err, unsure = err, nil, "the backup is damaged, and the run may lack what it did last"
	}
	if err == nil {
		_, err = endRuns(ctx, s, sum.Missing, unsure)
	}
	return sum, damage, err
}

// backupParts returns the parts of the folder that a backup contains, given the log and small
// state of its store.
func (f *lockedFolder) backupParts(l runlog.Log, s smallstate.Store) backup.Parts {
	return backup.Parts{Log: l, Blobs: f.Blobs, Keys: keyring.New(f.KeyDir()), SessionKeys: f.keyStore(s)}
}

// unmarkRestored lets the folder be opened. Its files are synced when they are closed; their
// names are synced here.
func (f *lockedFolder) unmarkRestored() error {
	dirs := []string{f.Dir}
	if found, err := exists(f.KeyDir()); err != nil {
		return err
	} else if found {
		dirs = append(dirs, f.KeyDir())
	}
	for _, dir := range dirs {
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(f.path(restoreMarkFile)), atomicfile.SyncDir(f.Dir))
}

// removeRestored removes everything that a failed restore created, the mark last.
func (f *lockedFolder) removeRestored() (err error) {
	for _, name := range append(sqlite.FileNames(), blobFolder, secretKeysFolder, sealFile) {
		err = errors.Join(err, os.RemoveAll(f.path(name)))
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(f.path(restoreMarkFile)), os.Remove(f.lock.Path()))
}
