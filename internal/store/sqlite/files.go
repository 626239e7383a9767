package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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

// FileNames returns the names of the files in the folder of a database, those that a killed
// process may leave included.
func FileNames() []string {
	return []string{dbFile, walFile, shmFile, markFile, newFile, newFile + "-journal", newFile + "-wal", newFile + "-shm"}
}

// Path returns the path of the database in a folder.
func Path(dir string) string { return filepath.Join(dir, dbFile) }

// Files are a database in a folder, with the connections to it.
type Files struct {
	Writer  *sql.DB // one connection
	Readers *sql.DB // connections that only read

	dir       string
	upkeep    *sql.DB // for checkpoints
	wal       *os.File
	mark      *mark
	unsynced  atomic.Int64  // the number of the last commit that isn't synced; 0 for none
	walBytes  atomic.Int64  // estimate of what was written since the last checkpoint
	due       chan struct{} // has an element when a checkpoint is due
	syncing   sync.Mutex    // held while what was committed is synced
	whole     bool          // as far as the mark says
	closeOnce sync.Once
}

const maxReaders = 4

// Open opens the database in a folder. If there is none, it creates one: create fills it, and
// returns its id. The caller must call [Files.CompareMark] before it believes what it reads. The
// error is [runlog.ErrCorrupt], [runlog.ErrDiskFull], create's or the file system's.
func Open(ctx context.Context, dir string, create func(context.Context, *sql.Conn) (id []byte, err error)) (*Files, error) {
	f := &Files{dir: dir, due: make(chan struct{}, 1)}
	if err := f.open(ctx, create); err != nil {
		return nil, errors.Join(Explain(err), f.Close())
	}
	return f, nil
}

func (f *Files) open(ctx context.Context, create func(context.Context, *sql.Conn) ([]byte, error)) (err error) {
	if err := atomicfile.MakeDir(f.dir); err != nil {
		return err
	}
	if err := prepareFiles(ctx, f.dir, create); err != nil {
		return err
	}
	if f.mark, err = openMark(f.path(markFile)); err != nil {
		return err
	}
	// SQLite says neither that a file belongs to somebody else nor that the disk is full, and
	// would choose other modes.
	for _, name := range []string{dbFile, walFile, shmFile} {
		file, err := os.OpenFile(f.path(name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if name == walFile {
			f.wal = file
		} else if err := file.Close(); err != nil {
			return err
		}
	}
	if f.Writer, err = OpenFile(f.path(dbFile), 1, "cache_size=-8000", "journal_size_limit=16777216", "cell_size_check=on"); err != nil {
		return err
	}
	if f.Readers, err = OpenFile(f.path(dbFile), maxReaders, "query_only=on", "cache_size=-2000"); err != nil {
		return err
	}
	f.Readers.SetConnMaxIdleTime(time.Minute)
	if f.upkeep, err = OpenFile(f.path(dbFile), 1, "cache_size=-500", "busy_timeout="+maxReadTime); err != nil {
		return err
	}
	return f.checkPragmas(ctx)
}

func (f *Files) path(name string) string { return filepath.Join(f.dir, name) }

// checkPragmas checks what the head of the database says, which would be believed otherwise.
func (f *Files) checkPragmas(ctx context.Context) error {
	for pragma, want := range map[string]string{"journal_mode": "wal", "checksum_verification": "1", "auto_vacuum": "2"} {
		var got string
		if err := f.Writer.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%w: %s of %s is %s", runlog.ErrCorrupt, pragma, f.path(dbFile), got)
		}
	}
	return nil
}

// CompareMark returns [runlog.ErrCorrupt] if the database, which has an id and so many commits,
// lacks some that were synced. Until it has found that it doesn't, Close doesn't change the
// database.
func (f *Files) CompareMark(id []byte, commits int64) error {
	err := f.mark.check(id, commits)
	f.whole = f.whole || err == nil
	return err
}

// Close closes all that is open.
func (f *Files) Close() (err error) {
	f.closeOnce.Do(func() {
		for _, db := range []*sql.DB{f.Readers, f.Writer, f.upkeep} {
			if db == nil {
				continue
			}
			if db == f.upkeep && f.whole {
				_, execErr := db.ExecContext(context.Background(), "PRAGMA wal_checkpoint(truncate)")
				err = errors.Join(err, execErr)
			}
			err = errors.Join(err, db.Close())
		}
		if f.wal != nil {
			err = errors.Join(err, f.wal.Close())
		}
		if f.mark != nil {
			err = errors.Join(err, f.mark.close())
		}
		err = Explain(err)
	})
	return err
}
