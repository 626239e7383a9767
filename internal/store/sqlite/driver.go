// Package sqlite opens SQLite databases that are whole or refused: each page has a checksum, and a
// file beside the database, the mark, says how many commits were synced. It alone knows the
// driver.
package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/runlog"
)

// unmapped is the name of the file system without memory mapping. With it, the driver (0.37)
// panics at a checkpoint of a database with checksums: the mapping that SQLite wants to undo
// is gone once the checksums are known.
const unmapped = "unmapped"

func init() { vfs.Register(unmapped, unmappedVFS{vfs.Find("os")}) }

type unmappedVFS struct{ vfs.VFS }

func (u unmappedVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpenFilename(u.VFS, name, flags)
	if err != nil {
		return nil, flags, err
	}
	if flags&vfs.OPEN_WAL != 0 {
		return &walFrames{File: f}, flags, nil
	}
	return unmappedFile{f}, flags, nil
}

type unmappedFile struct{ vfs.File }

// WriteAt implements [io.WriterAt].
func (f unmappedFile) WriteAt(p []byte, off int64) (int, error) { return writeAt(f.File, p, off) }

// writeAt writes to a file. The driver (0.37) doesn't recognize a full disk by the error of a write,
// whose cause SQLite forgets with its next call.
func writeAt(f vfs.File, p []byte, off int64) (int, error) {
	n, err := f.WriteAt(p, off)
	if errors.Is(diskspace.WrapDiskFull(err), runlog.ErrDiskFull) {
		err = sqlite3.FULL
	}
	return n, err
}

func (f unmappedFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }
func (f unmappedFile) LockState() vfs.LockLevel       { return vfsutil.WrapLockState(f.File) }
func (f unmappedFile) PersistWAL() bool               { return vfsutil.WrapPersistWAL(f.File) }
func (f unmappedFile) SetPersistWAL(keep bool)        { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f unmappedFile) SizeHint(size int64) error      { return vfsutil.WrapSizeHint(f.File, size) }
func (f unmappedFile) HasMoved() (bool, error)        { return vfsutil.WrapHasMoved(f.File) }
func (f unmappedFile) Unwrap() vfs.File               { return f.File }

// OpenFile returns a pool of connections to a file, which must exist, each of which has
// executed the pragmas.
func OpenFile(file string, conns int, pragmas ...string) (*sql.DB, error) {
	name := (&url.URL{Scheme: "file", OmitHost: true, Path: file, RawQuery: "mode=rw&vfs=" + unmapped}).String()
	pragmas = slices.Concat([]string{"busy_timeout=10000"}, pragmas, []string{"temp_store=memory", "synchronous=normal", "trusted_schema=off", "wal_autocheckpoint=0"})
	db, err := driver.Open(name, func(c *sqlite3.Conn) error {
		_, err := c.FileControl("main", sqlite3.FCNTL_PERSIST_WAL, true) // others have it open
		return errors.Join(err, c.Exec("PRAGMA "+strings.Join(pragmas, "; PRAGMA ")))
	})
	if err != nil {
		return nil, Explain(err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// enableChecksums writes a checksum on each page of a database, now and ever after.
func enableChecksums(conn *sql.Conn) error {
	return conn.Raw(func(c any) error { return c.(driver.Conn).Raw().EnableChecksums("main") })
}

// Explain returns an error as one of package runlog or the file system, if it is one.
func Explain(err error) error {
	for _, e := range []struct{ code, means error }{
		{sqlite3.CORRUPT, runlog.ErrCorrupt},
		{sqlite3.NOTADB, runlog.ErrCorrupt},
		{sqlite3.IOERR_DATA, runlog.ErrCorrupt}, // a checksum
		{sqlite3.IOERR_CORRUPTFS, runlog.ErrCorrupt},
		{sqlite3.IOERR_SHORT_READ, runlog.ErrCorrupt},
		{sqlite3.FULL, runlog.ErrDiskFull},
		{sqlite3.PERM, fs.ErrPermission},
		{sqlite3.READONLY, fs.ErrPermission},
	} {
		if errors.Is(err, e.code) && !errors.Is(err, e.means) {
			return fmt.Errorf("%w: %w", e.means, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "sql: Scan error") && !errors.Is(err, runlog.ErrCorrupt) { // a value of another page
		return fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
	}
	return diskspace.WrapDiskFull(err)
}
