package store

import (
	"context"
	"time"
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

// syncNow syncs what was committed without, and notes whether that failed.
func (s *Store) syncNow() error {
	err := s.files.Sync()
	if err != nil {
		s.failure.Store(&err)
		s.logger.Error("syncing the store", "err", err)
		s.syncFailed.Store(true)
	} else if s.syncFailed.Swap(false) {
		s.failure.Store(nil)
	}
	return err
}

// checkpointWhenDue copies the write-ahead log whenever much has been written.
func (s *Store) checkpointWhenDue() {
	for {
		select {
		case <-s.closing:
			return
		case <-s.files.CheckpointDue():
			if err := s.files.Checkpoint(s.writer.gate.Lock, s.writer.gate.Unlock); err != nil {
				s.logger.Error("copying the write-ahead log into the database", "err", err)
			}
		}
	}
}
