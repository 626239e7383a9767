package jetstream

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// The mark moves when so much was appended since, or so much time has passed.
const (
	moveBytes    = 4 << 20 // a block of the engine's
	moveInterval = 10 * time.Second
)

// marks move a log's high-water mark while it is open.
type marks struct {
	dir   string
	bytes atomic.Int64  // appended since the mark moved
	full  chan struct{} // has one when they are moveBytes
	quit  chan struct{}
	ended sync.WaitGroup
	stays bool // it could not be moved

	mu      sync.Mutex // held while the mark moves, and while a run is deleted
	marked  bool       // the folder's format says that it has a mark
	mark    highWater
	size    int64    // of the file
	pending []string // runs whose deletion was noted, and may not be complete
	from    uint32   // the number of the first block that may not be on the disk
}

// appended counts what the stream has.
func (m *marks) appended(bytes int) {
	if m.bytes.Add(int64(bytes)) < moveBytes {
		return
	}
	select {
	case m.full <- struct{}{}:
	default:
	}
}

// begin writes the mark of a log that was opened, and has it move from now on.
func (l *Log) begin(ctx context.Context, found state) error {
	m := &l.marks
	m.marked, m.mark, m.size = found.marked && !found.fresh, found.mark, found.size
	for _, d := range m.mark.deleted {
		m.pending = append(m.pending, d.Run)
	}
	err := m.move(ctx, l.broker.Load())
	if err != nil && found.fresh {
		return err
	}
	l.unmoved(err)
	m.ended.Go(l.moveMarks)
	return nil
}

// moveMarks moves the mark until quit is closed.
func (l *Log) moveMarks() {
	m := &l.marks
	tick := time.NewTicker(moveInterval)
	defer tick.Stop()
	for {
		select {
		case <-m.quit:
			return
		case <-m.full:
		case <-tick.C:
			if m.bytes.Load() == 0 {
				continue
			}
		}
		if e := l.broker.Load(); e.failure() == nil {
			l.unmoved(m.move(context.Background(), e))
		}
	}
}

// unmoved logs why the mark stays where it was, if it does and did not before.
func (l *Log) unmoved(err error) {
	if err != nil && !l.marks.stays {
		l.logger.Warn("the log's high-water mark stays where it was, and is moved later", "err", err)
	}
	l.marks.stays = err != nil
}

// move moves the mark to what the engine has now.
func (m *marks) move(ctx context.Context, e *broker) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moveLocked(ctx, e)
}

func (m *marks) moveLocked(ctx context.Context, e *broker) error {
	since := m.bytes.Swap(0)
	next, err := m.reached(ctx, e)
	if err == nil {
		err = m.write(next)
	}
	if err != nil {
		m.bytes.Add(since)
	}
	return err
}

// reached is a mark of what the engine has, once nothing is left of runs that
// were deleted.
func (m *marks) reached(ctx context.Context, e *broker) (highWater, error) {
	for len(m.pending) > 0 {
		// Only what was there: it may have begun again.
		if err := e.purge(ctx, m.pending[0], jetstream.WithPurgeSequence(m.mark.Last+1)); err != nil {
			return highWater{}, err
		}
		m.pending = m.pending[1:]
	}
	info, err := e.stream.Info(ctx)
	if err != nil {
		return highWater{}, err
	}
	return highWater{Last: info.State.LastSeq, Messages: info.State.Msgs}, nil
}

// write has the blocks reach the disk, and then the mark.
func (m *marks) write(next highWater) error {
	last, err := syncBlocks(m.dir, m.from)
	if err != nil {
		return err
	}
	size, err := next.write(m.dir)
	if err != nil {
		return err
	}
	m.mark, m.size, m.from = next, size, last
	if !m.marked {
		err = errors.Join(syncFolders(m.dir), writeFormat(m.dir, ""))
		m.marked = err == nil
	}
	return err
}

// syncBlocks has blocks reach the disk, those with a number or a higher one. It
// returns the highest.
func syncBlocks(dir string, from uint32) (last uint32, err error) {
	paths, err := filepath.Glob(filepath.Join(messagesDir(dir), "*.blk"))
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		n := blockNumber(path)
		if last = max(last, n); n < from {
			continue
		}
		if err := syncFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // the engine removes those that it has emptied
			return 0, err
		}
	}
	return last, atomicfile.SyncDir(messagesDir(dir))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// delete deletes a run.
func (m *marks) delete(ctx context.Context, e *broker, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.note(ctx, e, run); err != nil {
		return err
	}
	if err := e.purge(ctx, run); err != nil {
		m.pending = append(m.pending, run) // maybe it is, and maybe later
		return err
	}
	return nil
}

// note says in the file that a run is deleted, before anything of it is gone.
// For that, the mark has to be above the run. Callers hold mu.
func (m *marks) note(ctx context.Context, e *broker, run string) error {
	at, err := e.readTail(ctx, run)
	if err == nil && (at.streamSeq > m.mark.Last || slices.Contains(m.pending, run)) {
		err = m.moveLocked(ctx, e)
	}
	if err != nil || at.streamSeq == 0 {
		return err
	}
	n, err := e.count(ctx, run)
	if err != nil {
		return err
	}
	m.bytes.Add(1) // so that the mark moves, and forgets what was deleted
	m.size, err = noteDeletion(m.dir, m.size, deletion{run, n})
	return err
}

// purge removes the messages of a run.
func (e *broker) purge(ctx context.Context, run string, opts ...jetstream.StreamPurgeOpt) error {
	err := e.stream.Purge(ctx, append(opts, jetstream.WithPurgeSubject(subjectOf(run)))...)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	return err
}

// count is how many messages a run has.
func (e *broker) count(ctx context.Context, run string) (uint64, error) {
	info, err := e.stream.Info(ctx, jetstream.WithSubjectFilter(subjectOf(run)))
	if err != nil {
		return 0, err
	}
	return info.State.Subjects[subjectOf(run)], nil
}

// finish stops the engine, and then says that all its blocks are as they stay.
func (l *Log) finish() {
	m, e := &l.marks, l.broker.Load()
	close(m.quit)
	m.ended.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := highWater{}, e.failure()
	if err == nil {
		e.appends.close(ErrClosed)
		next, err = m.reached(context.Background(), e)
	}
	e.stop(ErrClosed)
	if err == nil {
		if next.blocks, err = blockSizes(m.dir); err == nil {
			err = m.write(next)
		}
	}
	l.unmoved(err)
}

func blockSizes(dir string) (map[uint32]int64, error) {
	paths, err := filepath.Glob(filepath.Join(messagesDir(dir), "*.blk"))
	if err != nil {
		return nil, err
	}
	sizes := make(map[uint32]int64)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		sizes[blockNumber(path)] = info.Size()
	}
	return sizes, nil
}
