package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/runlog"
)

const streamName = "runs"

// broker is a server in this process with the stream of all runs. One that has
// broken takes no more appends, and is replaced by another on the same files.
type broker struct {
	server   *server.Server
	conn     *nats.Conn
	stream   jetstream.Stream
	appends  *publisher
	stopped  chan struct{}
	stopOnce sync.Once // for stop

	mu    sync.Mutex
	fault error
}

// startBroker brings up a server on the log's folder. Unless it is fresh, its stream
// has to be there.
func startBroker(ctx context.Context, l *Log, fresh bool) (*broker, error) {
	s, err := server.NewServer(&server.Options{
		DontListen: true, NoSigs: true, NoSystemAccount: true, ServerName: "beam",
		JetStream: true, StoreDir: l.options.Dir, DisableJetStreamBanner: true,
		JetStreamMaxMemory: 1 << 20, JetStreamMaxStore: 1 << 60,
		SyncAlways: l.options.SyncAlways, SyncInterval: l.options.SyncInterval,
		MaxPayload: MaxAppendBytes + 64<<10,
	})
	if err != nil {
		return nil, fmt.Errorf("the log's engine: %w", err)
	}
	warned := &serverLogger{logger: l.logger}
	s.SetLoggerV2(warned, false, false, false)
	e := &broker{server: s, stopped: make(chan struct{})}
	s.Start()
	if err := e.connect(ctx, l, fresh); err != nil {
		e.stop(err)
		return nil, errors.Join(err, warned.fatalError())
	}
	go e.watchHealth()
	return e, nil
}

func (e *broker) connect(ctx context.Context, l *Log, fresh bool) error {
	if !e.server.ReadyForConnections(time.Minute) || !e.server.JetStreamEnabled() {
		return errors.New("the log's engine did not start")
	}
	if err := e.checkHealth(); err != nil && !fresh {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	var err error
	if e.conn, err = nats.Connect("", nats.InProcessServer(e.server), nats.NoReconnect()); err != nil {
		return fmt.Errorf("connecting to the log's engine: %w", err)
	}
	js, err := jetstream.New(e.conn)
	if err != nil {
		return err
	}
	if fresh {
		e.stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Subjects: []string{subjectPrefix + "*"}, Storage: jetstream.FileStorage,
			Discard: jetstream.DiscardNew, AllowDirect: true,
			// No bound, but blocks of 4 MB instead of 8: an append to a run that
			// waited for long loads one.
			MaxMsgsPerSubject: math.MaxInt64,
		})
	} else {
		e.stream, err = js.Stream(ctx, streamName)
	}
	if err != nil {
		return fmt.Errorf("the stream %q: %w", streamName, err)
	}
	blocks, err := newBlocks(l.options)
	if err != nil {
		return err
	}
	e.appends, err = newPublisher(e.server, blocks.land, l.handleAck)
	return err
}

// checkHealth is what the server says is wrong with it. That it is not ready for
// connections within a millisecond is not: it has no listener, and says so when
// the machine is too busy to look at the clock twice.
func (e *broker) checkHealth() error {
	for range 5 {
		h := e.server.Healthz(&server.HealthzOptions{Account: "$G", Stream: streamName, Details: true})
		switch {
		case len(h.Errors) == 0:
			return nil
		case h.Errors[0].Type != server.HealthzErrorConn:
			return errors.New(h.Errors[0].Error)
		}
	}
	return nil
}

// An engine says nothing to an append whose write failed. So whoever waits for
// long asks for its health.
const (
	healthInterval = 100 * time.Millisecond
	slowAfter      = 2 * healthInterval
	giveUpAfter    = time.Minute
)

func (e *broker) watchHealth() {
	tick := time.NewTicker(healthInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.stopped:
			return
		case now := <-tick.C:
			waited := e.appends.waited(now)
			if waited < slowAfter {
				continue
			}
			if err := e.checkHealth(); err != nil {
				e.fail(diskspace.WrapDiskFull(fmt.Errorf("writing the log: %w", err)))
			} else if waited > giveUpAfter {
				e.fail(errors.New("the log's engine does not answer"))
			}
		}
	}
}

// fail ends what waits, and takes no more.
func (e *broker) fail(err error) {
	e.mu.Lock()
	if e.fault == nil {
		e.fault = err
	}
	e.mu.Unlock()
	if e.appends != nil {
		e.appends.close(err)
	}
}

func (e *broker) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fault
}

// stop returns when all files are closed.
func (e *broker) stop(err error) {
	e.stopOnce.Do(func() {
		close(e.stopped)
		e.fail(err)
		if e.conn != nil {
			e.conn.Close()
		}
		e.server.Shutdown()
		e.server.WaitForShutdown()
	})
}

// runTail is where a run ends: its last message's sequence in the stream, and its
// last ordinal. The zero value is a run that does not exist.
type runTail struct {
	streamSeq, lastSeq uint64
	finished           bool
}

// readTail reads where a run ends.
func (e *broker) readTail(ctx context.Context, run string) (runTail, error) {
	m, h, err := e.lastMessage(ctx, run)
	if err != nil || m == nil {
		return runTail{}, err
	}
	return runTail{m.Sequence, h.lastSeq, h.finished}, nil
}

// explainError is the engine's own fault, if it has one, rather than what it led to.
func (e *broker) explainError(err error) error {
	fault := e.failure()
	switch {
	case fault == nil:
		return err
	case errors.Is(fault, ErrClosed):
		return fault
	}
	return fmt.Errorf("%w: %w", runlog.ErrUnavailable, fault)
}

// explainFailedAppend is why an append failed. An engine whose connection broke is broken: what is in
// doubt is known when it has been started anew.
func (e *broker) explainFailedAppend(err error) error {
	var refused *server.ApiError
	if errors.As(err, &refused) {
		return diskspace.WrapDiskFull(err)
	}
	e.fail(e.appends.fault())
	if errors.Is(err, runlog.ErrUncertain) {
		return fmt.Errorf("%w: %w", runlog.ErrUncertain, e.failure())
	}
	return e.explainError(err)
}

// serverLogger takes what the server logs.
type serverLogger struct {
	logger    *slog.Logger
	mu        sync.Mutex
	lastFatal string
}

func (w *serverLogger) Noticef(string, ...any) {}
func (w *serverLogger) Debugf(string, ...any)  {}
func (w *serverLogger) Tracef(string, ...any)  {}

func (w *serverLogger) Warnf(format string, args ...any) {
	level := slog.LevelInfo // it warns of what it puts right itself
	if strings.HasPrefix(format, "Maximum payloads") {
		level = slog.LevelDebug // they are as large as an append may be
	}
	w.logger.Log(context.Background(), level, "the log's engine: "+fmt.Sprintf(format, args...))
}

func (w *serverLogger) Errorf(format string, args ...any) {
	w.logger.Error("the log's engine: " + fmt.Sprintf(format, args...))
}

func (w *serverLogger) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastFatal = strings.TrimSpace(fmt.Sprintf(format, args...))
}

func (w *serverLogger) fatalError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastFatal == "" {
		return nil
	}
	return errors.New(w.lastFatal)
}
