// Package jetstream is the durable [runlog.Log]: an embedded NATS server with
// JetStream, which stores runs in a folder and doesn't listen on the network.
//
// One stream holds all runs. Each run has a subject, and each append is one
// message, so an append is stored whole or not at all. docs/adr/0005 gives the
// reasons.
package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/runlog"
)

// Options configure a log. Dir is required.
type Options struct {
	// Dir is the log's own folder. Open creates it if it doesn't exist. The
	// caller must hold a lock that excludes other processes: the server doesn't
	// check, and a second one would corrupt the files.
	Dir string
	// SyncAlways makes every append durable before it returns. Otherwise an
	// append survives the end of the process at once, and a power failure only
	// after SyncInterval.
	SyncAlways bool
	// SyncInterval is the time between syncs; 1 s by default.
	SyncInterval time.Duration
	// MinFree is the number of bytes to leave free on the disk: an append that
	// would need them fails with [ErrDiskFull]. The default is
	// [diskspace.DefaultMinFree]; a negative value leaves nothing free.
	MinFree int64
	// Logger receives warnings, including the server's; nil discards them.
	Logger *slog.Logger
}

// Errors of a log, to be tested with [errors.Is].
var (
	// ErrDiskFull means that the disk is full. Nothing that was appended is
	// lost, and appends succeed again once there is space.
	ErrDiskFull = runlog.ErrDiskFull
	// ErrCorrupt means that the files are damaged. They are not changed.
	ErrCorrupt = runlog.ErrCorrupt
	// ErrNewerFormat means that a newer version of Beam wrote the folder.
	ErrNewerFormat = errors.New("the log was written by a newer version of Beam")
	// ErrClosed means that the log was closed.
	ErrClosed = errors.New("the log is closed")
	// ErrAppendTooLarge means that an append exceeds [MaxAppendBytes].
	ErrAppendTooLarge = errors.New("the append is too large")
)

// MaxAppendBytes is the maximum size of the entries of one append.
const MaxAppendBytes = 16 << 20

// A Log stores runs in a folder. The caller must close it.
type Log struct {
	options   Options
	logger    *slog.Logger
	broker    atomic.Pointer[broker]
	tails     tailCache
	recent    recentCache
	hubs      hubs
	disk      *diskspace.Disk
	highWater highWaterWriter

	restartLock sync.Mutex
	lastRestart time.Time // of a failed broker
	closed      atomic.Bool
	closing     sync.Once
}

var (
	_ runlog.Log          = (*Log)(nil)
	_ runlog.Scanner      = (*Log)(nil)
	_ runlog.CacheEvictor = (*Log)(nil)
)

// Open opens the log in a folder, or creates one there. The error is
// [ErrNewerFormat], [ErrCorrupt], [ErrDiskFull] or the file system's.
func Open(ctx context.Context, o Options) (*Log, error) {
	o.SyncInterval = cmp.Or(o.SyncInterval, time.Second)
	o.MinFree = cmp.Or(o.MinFree, diskspace.DefaultMinFree)
	l := &Log{options: o, logger: o.Logger, disk: diskspace.NewDisk(o.Dir, o.MinFree)}
	l.highWater = highWaterWriter{dir: o.Dir, due: make(chan struct{}, 1), quit: make(chan struct{})}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	found, err := prepareDir(o.Dir)
	if err != nil {
		return nil, diskspace.WrapDiskFull(addReadableCount(o.Dir, found, err))
	}
	if torn := found.index.tornBytes(); torn > 0 {
		l.logger.Warn("discarding an incomplete append that a crash left at the end of the log", "bytes", torn)
	}
	if err := removeTempFiles(o.Dir); err != nil {
		return nil, diskspace.WrapDiskFull(err)
	}
	found.index = nil // it is large
	b, err := startBroker(ctx, l, found.fresh)
	if err != nil {
		return nil, diskspace.WrapDiskFull(err)
	}
	l.broker.Store(b)
	if err := l.startHighWater(ctx, found); err != nil {
		b.stop(err)
		return nil, diskspace.WrapDiskFull(err)
	}
	return l, nil
}

// Close ends all appends and followers with [ErrClosed], and writes the
// high-water mark.
func (l *Log) Close() error {
	l.closed.Store(true)
	l.restartLock.Lock() // concurrent calls wait as well
	defer l.restartLock.Unlock()
	l.hubs.close()
	l.closing.Do(l.shutDown)
	return nil
}

// Err returns why the log accepts no appends, such as [ErrDiskFull], or nil if it
// does. It is meant for readiness checks.
func (l *Log) Err() error {
	if l.closed.Load() {
		return ErrClosed
	}
	if err := l.broker.Load().failure(); err != nil {
		return err
	}
	return l.disk.CheckFree()
}

// EvictCached implements [runlog.CacheEvictor].
func (l *Log) EvictCached(run string) {
	l.recent.remove(run)
	l.tails.evict(run)
}

// workingBroker returns a broker that accepts appends. It restarts one that has
// failed, unless it did so within the last second or the disk is full.
func (l *Log) workingBroker(ctx context.Context) (*broker, error) {
	b := l.broker.Load()
	if l.closed.Load() {
		return nil, ErrClosed
	}
	if b.failure() == nil {
		return b, nil
	}
	l.restartLock.Lock()
	defer l.restartLock.Unlock()
	b = l.broker.Load()
	err := b.failure()
	switch {
	case l.closed.Load():
		return nil, ErrClosed
	case err == nil:
		return b, nil
	case time.Since(l.lastRestart) < time.Second:
		return nil, b.explainError(err)
	}
	if err := l.disk.CheckFree(); err != nil {
		return nil, err
	}
	l.lastRestart = time.Now()
	return l.restartBroker(ctx, b)
}

// restartBroker replaces a failed broker by one on the same files, which hold
// every acknowledged append.
func (l *Log) restartBroker(ctx context.Context, old *broker) (*broker, error) {
	l.logger.Warn("restarting the NATS server of the log", "err", old.failure())
	old.stop(old.failure())
	b, err := startBroker(context.WithoutCancel(ctx), l, false)
	if err != nil {
		return nil, fmt.Errorf("%w: restarting the NATS server of the log: %w", runlog.ErrUnavailable, diskspace.WrapDiskFull(err))
	}
	l.tails.clear()
	l.recent.clear()
	l.broker.Store(b)
	l.hubs.invalidateTails()
	return b, nil
}

// withBroker calls f to read from the broker, and again from the next one if that failed
// because the broker was being replaced.
func (l *Log) withBroker(f func(*broker) error) error {
	for {
		b := l.broker.Load()
		if err := f(b); err == nil || !l.isReplaced(b) {
			return err
		}
	}
}

// isReplaced reports whether another broker has replaced b, and waits if it is about to.
func (l *Log) isReplaced(b *broker) bool {
	select {
	case <-b.stopped:
	default:
		return false
	}
	l.restartLock.Lock()
	defer l.restartLock.Unlock()
	return l.broker.Load() != b
}

// readTail reads the end of a run from the stream.
func (l *Log) readTail(ctx context.Context, run string) (t runTail, err error) {
	err = l.withBroker(func(b *broker) (err error) { t, err = b.readTail(ctx, run); return err })
	return t, err
}
