// Package store keeps runs in a database: SQLite in a folder, or PostgreSQL, which several
// processes may share.
//
// An append is a row of entries, written if the run's head is what the append expects to
// follow; the rows that lists need (runs, asks, audience, counts) are the fold of the entries,
// as package runstate has it, and change in the same transaction. So nothing is listed from
// memory, and a run that waits costs its rows.
//
// One goroutine, the writer, puts the appends that wait into one transaction. It syncs the
// file before it acknowledges what must not be lost (see mustSync), and everything else within
// a second. It keeps the rows of the runs that it wrote last. Readers have connections of their
// own, read in pages and hold no snapshot in between. Followers get what is committed from
// memory; one that is slow reads. Checkpoints have a connection of their own, too.
//
// What is stored is whole or refused. Each row of entries has the digest of its run up to
// there, and the run's row that of the head. Each page of the file has a checksum. SQLite
// silently drops the commits that follow a damaged part of its write-ahead log, so the mark, a
// file of its own, has the number of commits that were synced: a database with fewer is
// damaged. Meta has a digest of all heads, so that a run replaced by an older state of itself
// is found by Check.
//
// Statements are the same for both databases, with parameters in the order in which they
// appear. Package sqlite has the files of SQLite, and package postgres the connections to
// PostgreSQL; each knows its driver. What processes that share a database tell each other is in
// [Sharing].
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/blob"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// Sync says when an append is synced, so that it survives a power failure. Whenever it is, it
// survives the end of the process at once.
type Sync int

// When appends are synced.
const (
	SyncDefault  Sync = iota // before they return if they must not be lost, and otherwise within Options.SyncInterval
	SyncAlways               // before they return
	SyncInterval             // within Options.SyncInterval
)

// Options configure a store. Dir is required.
type Options struct {
	// Dir is the folder of the files. Open creates it if it doesn't exist. The caller must
	// hold a lock that excludes other processes.
	Dir          string
	Sync         Sync
	SyncInterval time.Duration // 1 s by default
	// MinFree is the number of bytes to leave free on the disk: an append that would need
	// them fails with [runlog.ErrDiskFull]. The default is [diskspace.DefaultMinFree]; a
	// negative value leaves nothing free.
	MinFree int64
	// Blobs has the files of runs; nil if there are none. What an entry changes whose data is
	// one of them is then not known.
	Blobs  *blob.Store
	Logger *slog.Logger // nil discards
}

// Errors of a store, apart from those of package runlog and [ErrNewerFormat].
var (
	// ErrClosed means that the store was closed.
	ErrClosed = errors.New("the store is closed")
	// ErrAppendTooLarge means that an append exceeds [MaxAppendBytes].
	ErrAppendTooLarge = errors.New("the append is too large")
)

// MaxAppendBytes is the maximum size of the entries of one append.
const MaxAppendBytes = 16 << 20

// A Store keeps runs. Its methods may be called from several goroutines. The caller must close
// it.
type Store struct {
	lists
	readers *sql.DB
	options Options
	logger  *slog.Logger
	disk    *diskspace.Disk // nil if it isn't this machine's
	files   *sqlite.Files   // nil if the database has none here
	writer  *writer
	hub     hub
	sharing *Sharing // nil if no other process has the database

	queue      chan *request
	failure    atomic.Pointer[error] // of the last transaction
	syncFailed atomic.Bool
	closing    chan struct{}
	closeOnce  sync.Once
	writerDone chan struct{}
	background sync.WaitGroup
	closeDB    func() error // closes connections that files don't
	closeErr   error
}

var _ runlog.Log = (*Store)(nil)

// Open opens the store in a folder, or creates one there. The error is [ErrNewerFormat],
// [runlog.ErrCorrupt], [runlog.ErrDiskFull] or the file system's.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.MinFree = cmp.Or(o.MinFree, diskspace.DefaultMinFree)
	f, err := sqlite.Open(ctx, o.Dir, createSQLite)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, o, &sqliteDialect, f.Writer, f.Readers, f)
	if err != nil {
		return nil, errors.Join(sqlite.Explain(err), f.Close())
	}
	return s, nil
}

// open returns a store on a database. db has one connection, the writer's.
func open(ctx context.Context, o Options, d *dialect, db, readers *sql.DB, f *sqlite.Files) (*Store, error) {
	o.SyncInterval = cmp.Or(o.SyncInterval, time.Second)
	s := &Store{
		readers: readers, options: o, logger: o.Logger, files: f,
		queue: make(chan *request, maxGroup), closing: make(chan struct{}), writerDone: make(chan struct{}),
	}
	s.lists = lists{&reader{statements: statements{on: readers}, dialect: d, closing: s.closing}}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if f != nil {
		s.disk = diskspace.NewDisk(o.Dir, o.MinFree)
	}
	s.writer = newWriter(s, db)
	if err := s.writer.start(ctx); err != nil {
		s.writer.disconnect()
		return nil, err
	}
	go s.writer.run()
	if f != nil {
		s.background.Go(s.syncPeriodically)
		s.background.Go(s.checkpointWhenDue)
	}
	return s, nil
}

// Sharing returns what is shared with other processes; nil if nothing is.
func (s *Store) Sharing() *Sharing { return s.sharing }

func (s *Store) isShared() bool { return s.files == nil }

// Blobs returns the files of runs in the database, for stores of blobs in several processes. It
// uses the connections of readers, not the writer's, so that appends don't wait; SQLite's can't
// write.
func (s *Store) Blobs() blob.Shared { return newBlobs(s.reader, s.readers) }

// Close ends all appends and followers with [ErrClosed].
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		close(s.closing)
		s.hub.close()
		<-s.writerDone
		s.background.Wait()
		s.closeErr = s.closeStatements()
		if s.files != nil {
			s.closeDB = s.files.Close
		}
		s.closeErr = errors.Join(s.closeErr, s.closeDB())
	})
	return s.closeErr
}

// Err returns why the store accepts no appends, or nil if it does. It is meant for readiness
// checks.
func (s *Store) Err() error {
	if s.isClosed() {
		return ErrClosed
	}
	if s.disk != nil {
		if err := s.disk.CheckFree(); err != nil {
			return err
		}
	}
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Commits returns how many transactions there were that changed something.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// loadBlob returns an entry with its data, if that can be read.
func (s *Store) loadBlob(run string, e runlog.Entry) runlog.Entry {
	if e.Blob == "" || s.options.Blobs == nil {
		return e
	}
	data, err := s.options.Blobs.Load(run, e.Blob)
	if err != nil {
		s.logger.Error("reading the data of an entry", "run", run, "entry", e.Seq, "err", err)
		return e
	}
	e.Data = data
	return e
}

// explain returns the error of a transaction. SQLite has codes for steps that fail because the
// disk is full, such as making the shared memory larger, that don't say so.
func (s *Store) explain(err error) error {
	err = s.dialect.explain(err)
	if s.disk == nil || errors.Is(err, runlog.ErrCorrupt) || errors.Is(err, runlog.ErrDiskFull) {
		return err
	}
	if full := s.disk.CheckFree(); errors.Is(full, runlog.ErrDiskFull) {
		return fmt.Errorf("%w: %w", full, err)
	}
	return err
}
