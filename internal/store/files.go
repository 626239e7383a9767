package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/runlog"
)

// The files of a store in a folder. SQLite names the write-ahead log and the shared memory.
const (
	dbFile   = "beam.db"
	markFile = "beam.mark"
	walFile  = dbFile + "-wal"
	shmFile  = dbFile + "-shm"
	newFile  = dbFile + ".new" // a database that is being created
)

// Files returns the names of a store's files in its folder, those that a killed process may
// leave included.
func Files() []string {
	return []string{dbFile, walFile, shmFile, markFile, newFile, newFile + "-journal", newFile + "-wal", newFile + "-shm"}
}

// files are an SQLite database in a folder, with the connections to it.
type files struct {
	dir         string
	db, readers *sql.DB // of the writer and of readers
	upkeep      *sql.DB // for checkpoints
	wal         *os.File
	mark        *mark
	unsynced    atomic.Int64 // the number of the last commit that isn't synced; 0 for none
	walBytes    atomic.Int64 // estimate of what was written since the last checkpoint
	checkpoint  chan struct{}
	syncing     sync.Mutex // held while what was committed is synced, and guards syncFailed
	syncFailed  bool
	opened      bool // it is whole, as far as is known when it is opened
	closeOnce   sync.Once
}

const maxReaders = 4

// openFiles opens the database in a folder, or creates one. The mark is read, and not compared
// yet.
func openFiles(ctx context.Context, dir string) (f *files, err error) {
	f = &files{dir: dir, checkpoint: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
			f = nil
		}
	}()
	if err := atomicfile.MakeDir(dir); err != nil {
		return f, err
	}
	if err := prepareFiles(ctx, dir); err != nil {
		return f, err
	}
	if f.mark, err = openMark(f.path(markFile)); err != nil {
		return f, err
	}
	// SQLite says neither that a file belongs to somebody else nor that the disk is full, and
	// would choose other modes.
	for _, name := range []string{dbFile, walFile, shmFile} {
		file, err := os.OpenFile(f.path(name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return f, err
		}
		if name == walFile {
			f.wal = file
		} else if err := file.Close(); err != nil {
			return f, err
		}
	}
	if f.db, err = openSQLite(f.path(dbFile), 1, "cache_size=-8000", "journal_size_limit=16777216", "cell_size_check=on"); err != nil {
		return f, err
	}
	if f.readers, err = openSQLite(f.path(dbFile), maxReaders, "query_only=on", "cache_size=-2000"); err != nil {
		return f, err
	}
	f.readers.SetConnMaxIdleTime(time.Minute)
	if f.upkeep, err = openSQLite(f.path(dbFile), 1, "cache_size=-500", "busy_timeout="+maxReadTime); err != nil {
		return f, err
	}
	return f, f.checkPragmas(ctx)
}

func (f *files) path(name string) string { return filepath.Join(f.dir, name) }

// checkPragmas checks what the head of the database says, which would be believed otherwise.
func (f *files) checkPragmas(ctx context.Context) error {
	for pragma, want := range map[string]string{"journal_mode": "wal", "checksum_verification": "1", "auto_vacuum": "2"} {
		var got string
		if err := f.db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return explainSQLite(err)
		}
		if got != want {
			return fmt.Errorf("%w: %s of %s is %s", runlog.ErrCorrupt, pragma, f.path(dbFile), got)
		}
	}
	return nil
}

// close closes all that is open.
func (f *files) close() (err error) {
	f.closeOnce.Do(func() {
		for _, db := range []*sql.DB{f.readers, f.db, f.upkeep} {
			if db == nil {
				continue
			}
			if db == f.upkeep && f.opened {
				_, execErr := db.ExecContext(context.Background(), "PRAGMA wal_checkpoint(truncate)")
				err = errors.Join(err, explainSQLite(execErr))
			}
			err = errors.Join(err, explainSQLite(db.Close()))
		}
		if f.wal != nil {
			err = errors.Join(err, f.wal.Close())
		}
		if f.mark != nil {
			err = errors.Join(err, f.mark.close())
		}
	})
	return err
}

// prepareFiles creates a store in a folder that has none. It writes a new database, then the
// mark, and then renames the database, so that after a crash it is known what has happened.
func prepareFiles(ctx context.Context, dir string) error {
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
		if err := createDatabase(ctx, created, filepath.Join(dir, markFile)); err != nil {
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
func createDatabase(ctx context.Context, path, markPath string) error {
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
	db, err := openSQLite(path, 1, "auto_vacuum=incremental")
	if err != nil {
		return err
	}
	id, err := fillDatabase(ctx, db)
	if err := errors.Join(explainSQLite(err), db.Close(), removeSide(path), atomicfile.SyncDir(filepath.Dir(path))); err != nil {
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

// fillDatabase migrates an empty database, and returns its id.
func fillDatabase(ctx context.Context, db *sql.DB) (id []byte, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := migrate(ctx, conn, &sqliteDialect); err != nil {
		return nil, err
	}
	if err := enableChecksums(conn); err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode=wal; PRAGMA wal_checkpoint(truncate)"); err != nil {
		return nil, err
	}
	err = conn.QueryRowContext(ctx, "SELECT id FROM meta").Scan(&id)
	return id, err
}
