package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/runlog"
)

// prepareFiles creates a store in a folder that has none. It writes a new database, then the
// mark, and then renames the database, so that after a crash it is known what has happened.
func prepareFiles(ctx context.Context, dir string, create func(context.Context, *sql.Conn) ([]byte, error)) error {
	var found [3]bool
	for i, name := range []string{dbFile, markFile, newFile} {
		var err error
		if found[i], err = exists(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	hasDB, hasMark, hasNew, created := found[0], found[1], found[2], filepath.Join(dir, newFile)
	switch {
	case hasDB && hasMark:
		return nil
	case hasDB:
		return fmt.Errorf("%w: %s has a database, but no file %q", runlog.ErrCorrupt, dir, markFile)
	case hasMark && !hasNew:
		return fmt.Errorf("%w: %s has a file %q, but no database", runlog.ErrCorrupt, dir, markFile)
	case !hasMark:
		if err := createDatabase(ctx, created, filepath.Join(dir, markFile), create); err != nil {
			return err
		}
	}
	if err := removeSide(created); err != nil {
		return err
	}
	if err := os.Rename(created, filepath.Join(dir, dbFile)); err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// createDatabase writes a new database, in the place of what an earlier attempt has left, and its
// mark.
func createDatabase(ctx context.Context, path, markPath string, create func(context.Context, *sql.Conn) ([]byte, error)) error {
	if err := errors.Join(removeSide(path), removeFile(path)); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := OpenFile(path, 1, "auto_vacuum=incremental")
	if err != nil {
		return err
	}
	id, err := fillDatabase(ctx, db, create)
	if err := errors.Join(err, db.Close(), removeSide(path), atomicfile.SyncDir(filepath.Dir(path))); err != nil {
		return err
	}
	return createMark(markPath, id)
}

// removeSide removes the files beside a database that is closed and has no transactions in them.
func removeSide(path string) error {
	return errors.Join(removeFile(path+"-journal"), removeFile(path+"-wal"), removeFile(path+"-shm"))
}

// removeFile removes a file, if it exists.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// fillDatabase has an empty database filled, and returns its id.
func fillDatabase(ctx context.Context, db *sql.DB, create func(context.Context, *sql.Conn) ([]byte, error)) (id []byte, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if id, err = create(ctx, conn); err != nil {
		return nil, err
	}
	if err := enableChecksums(conn); err != nil {
		return nil, err
	}
	_, err = conn.ExecContext(ctx, "PRAGMA journal_mode=wal; PRAGMA wal_checkpoint(truncate)")
	return id, err
}
