package store

import (
	"context"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/runlog"
)

// syncPeriodically syncs what was committed without.
func (s *Store) syncPeriodically() {
	tick := time.NewTicker(s.options.SyncInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			<-s.writerDone
			_ = s.syncNow() // it is logged, and said at each append
			return
		case <-tick.C:
			_ = s.syncNow() // it is logged, and said at each append
		}
	}
}

// Sync implements [runlog.Log].
func (s *Store) Sync(context.Context) error {
	if s.files == nil {
		return nil // each commit is synced
	}
	return s.syncNow()
}

// syncNow syncs what was committed without. One that is called meanwhile waits for it.
func (s *Store) syncNow() error {
	f := s.files
	f.syncing.Lock()
	defer f.syncing.Unlock()
	commits := f.unsynced.Swap(0)
	if commits == 0 {
		return nil
	}
	err := f.wal.Sync()
	if err == nil {
		err = f.mark.advance(commits)
	}
	if err != nil {
		f.unsynced.CompareAndSwap(0, commits)
		err = fmt.Errorf("%w: syncing: %w", runlog.ErrUnavailable, diskspace.WrapDiskFull(err))
		s.failure.Store(&err)
		s.logger.Error("syncing the store", "err", err)
		f.syncFailed = true
	} else if f.syncFailed {
		f.syncFailed = false
		s.failure.Store(nil)
	}
	return err
}

// A checkpoint copies the write-ahead log into the database. The log begins anew when all of
// it was copied and nobody reads it. The writer goes on meanwhile, but when the log has become
// too long: then it waits for the rest to be copied and synced, and for up to maxReadTime for
// those that read the log. Who reads longer makes it grow.
const (
	checkpointBytes = 4 << 20
	maxWALBytes     = 16 << 20
	pageBytes       = 4 << 10
)

// checkpointWhenDue copies the write-ahead log whenever much has been written.
func (s *Store) checkpointWhenDue() {
	for {
		select {
		case <-s.closing:
			return
		case <-s.files.checkpoint:
			s.files.walBytes.Store(0)
			if err := s.checkpoint(); err != nil {
				s.logger.Error("copying the write-ahead log into the database", "err", err)
			}
		}
	}
}

func (s *Store) checkpoint() error {
	pages, err := s.files.copyWAL("passive")
	if err != nil || pages*pageBytes < maxWALBytes {
		return err
	}
	s.writer.gate.Lock()
	defer s.writer.gate.Unlock()
	_, err = s.files.copyWAL("restart")
	return err
}

// maxReadTime is how long a checkpoint waits for readers, in milliseconds.
const maxReadTime = "20"

// copyWAL copies what it can, and returns how many pages the log has. The mode is passive,
// which makes nobody wait, or restart, with which the log then begins anew.
func (f *files) copyWAL(mode string) (pages int64, err error) {
	var busy, copied int64
	err = f.upkeep.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return pages, explainSQLite(err)
}
