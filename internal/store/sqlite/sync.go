package sqlite

import (
	"context"
	"fmt"

	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/runlog"
)

// bytesPerCommit is about how much a commit adds to the write-ahead log beyond its data.
const bytesPerCommit = 32 << 10

// Committed notes a commit. An error of the mark isn't the append's, as an older mark only
// protects less.
func (f *Files) Committed(commits int64, synced bool, bytes int) {
	if f.walBytes.Add(bytesPerCommit+int64(bytes)) > checkpointBytes {
		select {
		case f.due <- struct{}{}:
		default:
		}
	}
	if !synced {
		f.unsynced.Store(commits)
		return
	}
	f.unsynced.Store(0) // the sync covers all before
	_ = f.mark.advance(commits)
}

// Sync syncs what was committed without. One that is called meanwhile waits for it. The error
// wraps [runlog.ErrUnavailable].
func (f *Files) Sync() error {
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
	maxReadTime     = "20" // milliseconds
)

// CheckpointDue returns a channel that has an element when much has been written.
func (f *Files) CheckpointDue() <-chan struct{} { return f.due }

// Checkpoint copies the write-ahead log. If it is too long, pause keeps the writer from committing
// until resume is called.
func (f *Files) Checkpoint(pause, resume func()) error {
	f.walBytes.Store(0)
	pages, err := f.copyWAL("passive")
	if err != nil || pages*pageBytes < maxWALBytes {
		return err
	}
	pause()
	defer resume()
	_, err = f.copyWAL("restart")
	return err
}

// copyWAL copies what it can, and returns how many pages the log has. The mode is passive,
// which makes nobody wait, or restart, with which the log then begins anew.
func (f *Files) copyWAL(mode string) (pages int64, err error) {
	var busy, copied int64
	err = f.upkeep.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return pages, Explain(err)
}
