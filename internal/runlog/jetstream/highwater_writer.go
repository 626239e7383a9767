package jetstream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The high-water mark advances after this many bytes were appended, or after
// this much time.
const (
	advanceBytes    = 4 << 20 // one of the server's blocks
	advanceInterval = 10 * time.Second
)

// highWaterWriter advances the high-water mark of a log that is open.
type highWaterWriter struct {
	dir           string
	unmarkedBytes atomic.Int64  // appended since the mark was written
	due           chan struct{} // receives when unmarkedBytes reaches advanceBytes
	quit          chan struct{}
	done          sync.WaitGroup
	failing       bool // the last attempt to advance the mark failed

	mu             sync.Mutex // held while the mark is written, and while a run is deleted
	formatMarked   bool       // the format file says that the folder has a mark
	mark           highWater
	fileSize       int64
	pendingDeletes []string // runs whose deletion was recorded but may be incomplete
	firstUnsynced  uint32   // number of the first block that may not be on the disk
}

// countAppended counts bytes that the stream has acknowledged.
func (w *highWaterWriter) countAppended(bytes int) {
	if w.unmarkedBytes.Add(int64(bytes)) < advanceBytes {
		return
	}
	select {
	case w.due <- struct{}{}:
	default:
	}
}

// startHighWater writes the mark of a log that was just opened, and starts the
// goroutine that advances it.
func (l *Log) startHighWater(ctx context.Context, found folderState) error {
	w := &l.highWater
	w.formatMarked, w.mark, w.fileSize = found.marked && !found.fresh, found.mark, found.size
	for _, d := range w.mark.deleted {
		w.pendingDeletes = append(w.pendingDeletes, d.Run)
	}
	err := w.advance(ctx, l.broker.Load())
	if err != nil && found.fresh {
		return err
	}
	l.logHighWaterError(err)
	w.done.Go(l.advanceHighWater)
	return nil
}

// advanceHighWater advances the mark until quit is closed.
func (l *Log) advanceHighWater() {
	w := &l.highWater
	tick := time.NewTicker(advanceInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-w.due:
		case <-tick.C:
			if w.unmarkedBytes.Load() == 0 {
				continue
			}
		}
		if b := l.broker.Load(); b.failure() == nil {
			l.logHighWaterError(w.advance(context.Background(), b))
		}
	}
}

// logHighWaterError logs the first of several failures to advance the mark.
func (l *Log) logHighWaterError(err error) {
	if err != nil && !l.highWater.failing {
		l.logger.Warn("could not advance the log's high-water mark; will retry", "err", err)
	}
	l.highWater.failing = err != nil
}

// advance writes a mark of what the stream holds now.
func (w *highWaterWriter) advance(ctx context.Context, b *broker) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advanceLocked(ctx, b)
}

func (w *highWaterWriter) advanceLocked(ctx context.Context, b *broker) error {
	bytes := w.unmarkedBytes.Swap(0)
	next, err := w.currentMark(ctx, b)
	if err == nil {
		err = w.syncAndWrite(next)
	}
	if err != nil {
		w.unmarkedBytes.Add(bytes)
	}
	return err
}

// currentMark completes pending deletions and returns a mark of what the stream
// then holds.
func (w *highWaterWriter) currentMark(ctx context.Context, b *broker) (highWater, error) {
	for len(w.pendingDeletes) > 0 {
		// Up to the mark only: a run of the same name may have started since.
		if err := b.purgeRun(ctx, w.pendingDeletes[0], jetstream.WithPurgeSequence(w.mark.Last+1)); err != nil {
			return highWater{}, err
		}
		w.pendingDeletes = w.pendingDeletes[1:]
	}
	info, err := b.stream.Info(ctx)
	if err != nil {
		return highWater{}, err
	}
	return highWater{Last: info.State.LastSeq, Messages: info.State.Msgs}, nil
}

// syncAndWrite syncs the blocks to the disk, and then writes the mark.
func (w *highWaterWriter) syncAndWrite(next highWater) error {
	last, err := syncBlocks(w.dir, w.firstUnsynced)
	if err != nil {
		return err
	}
	size, err := next.write(w.dir)
	if err != nil {
		return err
	}
	w.mark, w.fileSize, w.firstUnsynced = next, size, last
	if !w.formatMarked {
		err = errors.Join(syncFolders(w.dir), writeFormat(w.dir, ""))
		w.formatMarked = err == nil
	}
	return err
}

// shutDown stops the broker, and writes a mark that includes the final size of
// every block.
func (l *Log) shutDown() {
	w, b := &l.highWater, l.broker.Load()
	close(w.quit)
	w.done.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	next, err := highWater{}, b.failure()
	if err == nil {
		b.appends.close(ErrClosed)
		next, err = w.currentMark(context.Background(), b)
	}
	b.stop(ErrClosed)
	if err == nil {
		if next.blocks, err = blockSizes(w.dir); err == nil {
			err = w.syncAndWrite(next)
		}
	}
	l.logHighWaterError(err)
}

// blockSizes returns the sizes of all block files, by block number.
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
