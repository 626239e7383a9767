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

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/room"
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
	// Spare is how many bytes of the disk are left free: an append that would
	// need them fails with [ErrFull]. [room.Spare]; negative for none, so that a full
	// disk is found when it is met.
	Spare int64
	// Logger hears what the engine warns of; nil discards.
	Logger *slog.Logger
}

// What can be wrong with a log; [errors.Is] finds it.
var (
	// ErrFull: the disk has no room. Nothing that was appended is lost, and
	// appends succeed again when there is room.
	ErrFull = log.ErrFull
	// ErrCorrupt: the files are damaged. They are left as they are.
	ErrCorrupt = log.ErrCorrupt
	// ErrNewer: the folder was written by a newer version.
	ErrNewer = errors.New("the log was written by a newer version of Beam")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("the log is closed")
	// ErrTooLarge: an append of more than [MaxAppend] bytes.
	ErrTooLarge = errors.New("too much for one append")
)

// MaxAppend is the most bytes that the entries of one append may have.
const MaxAppend = 16 << 20

// A Log keeps runs in a folder. Close it when done.
type Log struct {
	options Options
	logger  *slog.Logger
	engine  atomic.Pointer[engine]
	tails   tails
	recent  recent
	hubs    hubs
	disk    *room.Disk
	marks   marks

	reviving sync.Mutex
	tried    time.Time // when a broken engine was last started anew
	closed   atomic.Bool
	closing  sync.Once
}

var (
	_ log.Log     = (*Log)(nil)
	_ log.Scanner = (*Log)(nil)
	_ log.Rester  = (*Log)(nil)
)

// Open opens the log in a folder, or begins one there. The error is
// [ErrNewer], [ErrCorrupt], [ErrFull] or the file system's.
func Open(ctx context.Context, o Options) (*Log, error) {
	o.SyncInterval = cmp.Or(o.SyncInterval, time.Second)
	o.Spare = cmp.Or(o.Spare, room.Spare)
	l := &Log{options: o, logger: o.Logger, disk: room.Of(o.Dir, o.Spare)}
	l.marks = marks{dir: o.Dir, full: make(chan struct{}, 1), quit: make(chan struct{})}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	found, err := prepare(o.Dir)
	if err != nil {
		return nil, room.Explain(explained(o.Dir, found, err))
	}
	if torn := found.survey.torn(); torn > 0 {
		l.logger.Warn("the end of the log was torn off, by a crash before it was recorded", "bytes", torn)
	}
	if err := sweep(o.Dir); err != nil {
		return nil, room.Explain(err)
	}
	found.survey = nil // a large one
	e, err := start(ctx, l, found.fresh)
	if err != nil {
		return nil, room.Explain(err)
	}
	l.engine.Store(e)
	if err := l.begin(ctx, found); err != nil {
		e.stop(err)
		return nil, room.Explain(err)
	}
	return l, nil
}

// Close ends all appends and followers, with [ErrClosed], and writes down what
// makes the next opening fast.
func (l *Log) Close() error {
	l.closed.Store(true)
	l.reviving.Lock() // who closes at the same time waits, too
	defer l.reviving.Unlock()
	l.hubs.close()
	l.closing.Do(l.finish)
	return nil
}

// Err is what keeps the log from taking appends, [ErrFull] for one; nil if it
// takes them. It is for readiness checks.
func (l *Log) Err() error {
	if l.closed.Load() {
		return ErrClosed
	}
	if err := l.engine.Load().broken(); err != nil {
		return err
	}
	return l.disk.Ready()
}

// Rest implements [log.Rester].
func (l *Log) Rest(run string) {
	l.recent.forget(run)
	l.tails.rest(run)
}

// working returns an engine that takes appends, starting it anew if it broke
// and there is hope.
func (l *Log) working(ctx context.Context) (*engine, error) {
	e := l.engine.Load()
	if l.closed.Load() {
		return nil, ErrClosed
	}
	if e.broken() == nil {
		return e, nil
	}
	l.reviving.Lock()
	defer l.reviving.Unlock()
	e = l.engine.Load()
	err := e.broken()
	switch {
	case l.closed.Load():
		return nil, ErrClosed
	case err == nil:
		return e, nil
	case time.Since(l.tried) < time.Second:
		return nil, e.why(err)
	}
	if err := l.disk.Ready(); err != nil {
		return nil, err
	}
	l.tried = time.Now()
	return l.revive(ctx, e)
}

// revive starts the engine anew on its files. Everything that was acknowledged
// is in them.
func (l *Log) revive(ctx context.Context, old *engine) (*engine, error) {
	l.logger.Warn("the log's engine is started anew", "err", old.broken())
	old.stop(old.broken())
	e, err := start(context.WithoutCancel(ctx), l, false)
	if err != nil {
		return nil, fmt.Errorf("%w: starting the log's engine anew: %w", log.ErrUnavailable, room.Explain(err))
	}
	l.tails.clear()
	l.recent.clear()
	l.engine.Store(e)
	l.hubs.reread()
	return e, nil
}
