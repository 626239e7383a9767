package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// Backup copies the store as it is now into a folder, where [Open] opens it. Appends go on
// meanwhile. The folder must have no store; the error is then [os.ErrExist].
func (s *Store) Backup(ctx context.Context, dir string) (err error) {
	if s.files == nil {
		return errors.New("the database is backed up by its own means")
	}
	for _, name := range Files() {
		if found, err := exists(filepath.Join(dir, name)); err != nil || found {
			return errors.Join(err, fmt.Errorf("%s: %w", filepath.Join(dir, name), os.ErrExist))
		}
	}
	if err := atomicfile.MakeDir(dir); err != nil {
		return err
	}
	return s.readError(explainSQLite(s.files.copyTo(ctx, dir)))
}

// copyTo creates a store in a folder as prepareFiles does, but not an empty one.
func (f *files) copyTo(ctx context.Context, dir string) error {
	path := filepath.Join(dir, newFile)
	if err := createEmpty(path); err != nil {
		return err
	}
	if err := f.copyDatabase(ctx, path); err != nil {
		return err
	}
	id, commits, err := finishCopy(ctx, path)
	if err != nil {
		return err
	}
	if err := createMark(filepath.Join(dir, markFile), id, commits); err != nil {
		return err
	}
	return prepareFiles(ctx, dir)
}

// copyDatabase copies a snapshot, on a connection of its own.
func (f *files) copyDatabase(ctx context.Context, path string) (err error) {
	db, err := openSQLite(f.path(dbFile), 1)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO $1", path)
	return errors.Join(err, db.Close())
}

// finishCopy makes a copy what Open expects, and syncs it.
func finishCopy(ctx context.Context, path string) (id []byte, commits int64, err error) {
	db, err := openSQLite(path, 1)
	if err != nil {
		return nil, 0, err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode=wal; PRAGMA wal_checkpoint(truncate)")
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT id, commits FROM meta").Scan(&id, &commits)
	}
	file, openErr := os.OpenFile(path, os.O_RDWR, 0)
	if openErr == nil {
		openErr = errors.Join(file.Sync(), file.Close())
	}
	return id, commits, errors.Join(err, openErr, db.Close(), removeCompanions(path), atomicfile.SyncDir(filepath.Dir(path)))
}
