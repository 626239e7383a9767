// Package jetstream is the durable log: runs on an embedded NATS JetStream, in
// files in a folder, without a listener. It is the twin of [log.Memory].
//
// One stream holds all runs, one subject each run, and one message is one
// append, so that an append is there whole or not at all. docs/adr/0005 says
// why.
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

// Options set up a log. Dir is required.
type Options struct {
	// Dir is the log's own folder, made if need be. Whoever opens it holds a
	// lock that keeps other processes out: the engine itself would let a second
	// one in, and ruin it.
	Dir string
	// SyncAlways has every append reach the disk before it returns. Otherwise
	// an append has reached the operating system, and the disk an interval
	// later: the end of the process loses nothing, a power failure what the
	// interval held.
	SyncAlways bool
	// SyncInterval is the interval; 1 s.
	SyncInterval time.Duration
	// MinFree is how many bytes of the disk are left free: an append that would
	// need them fails with [ErrDiskFull]. [room.DefaultMinFree]; negative for none, so that a full
	// disk is found when it is met.
	MinFree int64
	// Logger hears what the engine warns of; nil discards.
	Logger *slog.Logger
}

// What can be wrong with a log; [errors.Is] finds it.
var (
	// ErrDiskFull: the disk has no room. Nothing that was appended is lost, and
	// appends succeed again when there is room.
	ErrDiskFull = runlog.ErrDiskFull
	// ErrCorrupt: the files are damaged. They are left as they are.
	ErrCorrupt = runlog.ErrCorrupt
	// ErrNewerFormat: the folder was written by a newer version.
	ErrNewerFormat = errors.New("the log was written by a newer version of Beam")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("the log is closed")
	// ErrAppendTooLarge: an append of more than [MaxAppendBytes] bytes.
	ErrAppendTooLarge = errors.New("too much for one append")
)

// MaxAppendBytes is the most bytes that the entries of one append may have.
const MaxAppendBytes = 16 << 20

// A Log keeps runs in a folder. Close it when done.
type Log struct {
	options Options
	logger  *slog.Logger
	broker  atomic.Pointer[broker]
	tails   tailCache
	recent  recentCache
	hubs    hubs
	disk    *diskspace.Disk
	marks   marks

	restartLock sync.Mutex
	lastRestart time.Time // when a broken engine was last started anew
	closed      atomic.Bool
	closing     sync.Once
}

var (
	_ runlog.Log          = (*Log)(nil)
	_ runlog.Scanner      = (*Log)(nil)
	_ runlog.CacheEvictor = (*Log)(nil)
)

// Open opens the log in a folder, or begins one there. The error is
// [ErrNewerFormat], [ErrCorrupt], [ErrDiskFull] or the file system's.
func Open(ctx context.Context, o Options) (*Log, error) {
	o.SyncInterval = cmp.Or(o.SyncInterval, time.Second)
	o.MinFree = cmp.Or(o.MinFree, diskspace.DefaultMinFree)
	l := &Log{options: o, logger: o.Logger, disk: diskspace.NewDisk(o.Dir, o.MinFree)}
	l.marks = marks{dir: o.Dir, full: make(chan struct{}, 1), quit: make(chan struct{})}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	found, err := prepareDir(o.Dir)
	if err != nil {
		return nil, diskspace.WrapDiskFull(explained(o.Dir, found, err))
	}
	if torn := found.survey.torn(); torn > 0 {
		l.logger.Warn("the end of the log was torn off, by a crash before it was recorded", "bytes", torn)
	}
	if err := sweep(o.Dir); err != nil {
		return nil, diskspace.WrapDiskFull(err)
	}
	found.survey = nil // a large one
	e, err := startBroker(ctx, l, found.fresh)
	if err != nil {
		return nil, diskspace.WrapDiskFull(err)
	}
	l.broker.Store(e)
	if err := l.begin(ctx, found); err != nil {
		e.stop(err)
		return nil, diskspace.WrapDiskFull(err)
	}
	return l, nil
}

// Close ends all appends and followers, with [ErrClosed], and writes down what
// makes the next opening fast.
func (l *Log) Close() error {
	l.closed.Store(true)
	l.restartLock.Lock() // who closes at the same time waits, too
	defer l.restartLock.Unlock()
	l.hubs.close()
	l.closing.Do(l.finish)
	return nil
}

// Err is what keeps the log from taking appends, [ErrDiskFull] for one; nil if it
// takes them. It is for readiness checks.
func (l *Log) Err() error {
	if l.closed.Load() {
		return ErrClosed
	}
	if err := l.broker.Load().failure(); err != nil {
		return err
	}
	return l.disk.CheckFree()
}

// EvictCached implements [log.CacheEvictor].
func (l *Log) EvictCached(run string) {
	l.recent.remove(run)
	l.tails.evict(run)
}

// workingBroker returns an engine that takes appends, starting it anew if it broke
// and there is hope.
func (l *Log) workingBroker(ctx context.Context) (*broker, error) {
	e := l.broker.Load()
	if l.closed.Load() {
		return nil, ErrClosed
	}
	if e.failure() == nil {
		return e, nil
	}
	l.restartLock.Lock()
	defer l.restartLock.Unlock()
	e = l.broker.Load()
	err := e.failure()
	switch {
	case l.closed.Load():
		return nil, ErrClosed
	case err == nil:
		return e, nil
	case time.Since(l.lastRestart) < time.Second:
		return nil, e.explainError(err)
	}
	if err := l.disk.CheckFree(); err != nil {
		return nil, err
	}
	l.lastRestart = time.Now()
	return l.restartBroker(ctx, e)
}

// restartBroker starts the engine anew on its files. Everything that was acknowledged
// is in them.
func (l *Log) restartBroker(ctx context.Context, old *broker) (*broker, error) {
	l.logger.Warn("the log's engine is started anew", "err", old.failure())
	old.stop(old.failure())
	e, err := startBroker(context.WithoutCancel(ctx), l, false)
	if err != nil {
		return nil, fmt.Errorf("%w: starting the log's engine anew: %w", runlog.ErrUnavailable, diskspace.WrapDiskFull(err))
	}
	l.tails.clear()
	l.recent.clear()
	l.broker.Store(e)
	l.hubs.invalidateTails()
	return e, nil
}
