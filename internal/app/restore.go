package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/backup"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/store"
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
	sum, damage, err = f.restoreFrom(ctx, r, partial, logger)
	if err != nil {
		return sum, nil, errors.Join(fmt.Errorf("nothing is restored: %w", err), f.removeRestored(), f.lock.Unlock())
	}
	return sum, damage, errors.Join(f.syncAndUnmark(), f.lock.Unlock())
}

// prepareRestore locks an empty folder and marks it.
func prepareRestore(dir string) (*DataFolder, error) {
	if err := requireEmpty(dir); err != nil {
		return nil, err
	}
	f, err := lockDataFolder(dir)
	if err != nil {
		return nil, err
	}
	err = requireEmpty(f.dir) // again, now that no other process can restore to it
	if err == nil {
		err = f.markRestoring()
	}
	if err != nil {
		return nil, errors.Join(err, f.lock.Unlock())
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
func (f *DataFolder) checkRestored() error {
	_, err := os.Stat(filepath.Join(f.dir, restoreMarkFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return folderError(err)
	}
	return fmt.Errorf("the data folder %s contains part of a backup, because the restore was interrupted: delete the contents of the folder and restore the backup again", f.dir)
}

// markRestoring prevents the folder from being opened, even after a loss of
// power.
func (f *DataFolder) markRestoring() error {
	m, err := os.OpenFile(filepath.Join(f.dir, restoreMarkFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(m.Sync(), m.Close(), atomicfile.SyncDir(f.dir))
}

// restoreFrom fills the folder from a backup.
func (f *DataFolder) restoreFrom(ctx context.Context, r io.Reader, partial bool, logger *slog.Logger) (sum backup.Summary, damage, err error) {
	if f.blobs, err = blob.Open(f.blobDir()); err != nil {
		return sum, nil, err
	}
	err = f.withStore(ctx, logger, func(s *folderStore) error {
		unsure := ""
		sum, err = backup.Restore(ctx, r, f.backupParts(s, s.state))
		if partial && sum.Runs > 0 && (errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrTruncated)) {
			damage, err, unsure = err, nil, "the backup is damaged, and the run may lack what it did last"
		}
		if err == nil {
			err = f.endDamaged(ctx, s, sum.Missing, unsure)
		}
		return err
	})
	return sum, damage, errors.Join(err, f.blobs.Close())
}

// syncAndUnmark syncs the folder to disk and then lets it be opened.
func (f *DataFolder) syncAndUnmark() error {
	err := filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return atomicfile.SyncDir(path)
		case e.Type().IsRegular() && e.Name() != lockFile:
			return syncFile(path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(f.dir, restoreMarkFile)), atomicfile.SyncDir(f.dir))
}

// removeRestored removes everything that a failed restore created, the mark last.
func (f *DataFolder) removeRestored() (err error) {
	for _, name := range append(store.Files(), blobFolder, secretKeysFolder, sealFile) {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(f.dir, restoreMarkFile)), os.Remove(f.lock.Path()))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
