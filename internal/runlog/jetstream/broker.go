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

// broker is a NATS server in this process, with the stream of all runs. Once it
// has failed, it accepts no appends, and is replaced by another on the same files.
type broker struct {
	server   *server.Server
	conn     *nats.Conn
	stream   jetstream.Stream
	appends  *publisher
	stopped  chan struct{}
	stopOnce sync.Once // for stop

	mu       sync.Mutex
	fatalErr error
}

// startBroker starts a server on the log's folder. It creates the stream if fresh
// is true; otherwise the stream must exist.
func startBroker(ctx context.Context, l *Log, fresh bool) (*broker, error) {
	s, err := server.NewServer(&server.Options{
		DontListen: true, NoSigs: true, NoSystemAccount: true, ServerName: "beam",
		JetStream: true, StoreDir: l.options.Dir, DisableJetStreamBanner: true,
		JetStreamMaxMemory: 1 << 20, JetStreamMaxStore: 1 << 60,
		SyncAlways: l.options.SyncAlways, SyncInterval: l.options.SyncInterval,
		MaxPayload: MaxAppendBytes + 64<<10,
	})
	if err != nil {
		return nil, fmt.Errorf("NATS server: %w", err)
	}
	serverLog := &serverLogger{logger: l.logger}
	s.SetLoggerV2(serverLog, false, false, false)
	b := &broker{server: s, stopped: make(chan struct{})}
	s.Start()
	if err := b.connect(ctx, l, fresh); err != nil {
		b.stop(err)
		return nil, errors.Join(err, serverLog.fatalError())
	}
	go b.watchHealth()
	return b, nil
}

func (b *broker) connect(ctx context.Context, l *Log, fresh bool) error {
	if !b.server.ReadyForConnections(time.Minute) || !b.server.JetStreamEnabled() {
		return errors.New("the NATS server of the log did not start")
	}
	if err := b.checkHealth(); err != nil && !fresh {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	var err error
	if b.conn, err = connectInProcess(b.server); err != nil {
		return err
	}
	js, err := jetstream.New(b.conn, jetstream.WithDefaultTimeout(answerTimeout))
	if err != nil {
		return err
	}
	if fresh {
		b.stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Subjects: []string{subjectPrefix + "*"}, Storage: jetstream.FileStorage,
			Discard: jetstream.DiscardNew, AllowDirect: true,
			// Not a limit in practice, but it selects blocks of 4 MB instead of
			// 8: an append to a run that waited for long loads one.
			MaxMsgsPerSubject: math.MaxInt64,
		})
	} else {
		b.stream, err = js.Stream(ctx, streamName)
	}
	if err != nil {
		return fmt.Errorf("the stream %q: %w", streamName, err)
	}
	syncer, err := newFolderSyncer(l.options)
	if err != nil {
		return err
	}
	b.appends, err = newPublisher(b.server, syncer.sync, l.handleAck)
	return err
}

// connectInProcess returns a connection to a server in this process. On a busy machine, or
// a slow disk, the server may take longer to answer than the client allows by default.
func connectInProcess(s nats.InProcessConnProvider, options ...nats.Option) (*nats.Conn, error) {
	conn, err := nats.Connect("", append(options, nats.InProcessServer(s), nats.NoReconnect(), nats.Timeout(answerTimeout))...)
	if err != nil {
		return nil, fmt.Errorf("connecting to the NATS server: %w", err)
	}
	return conn, nil
}

// checkHealth returns the error that the server reports in its health check. It
// ignores connection errors: a server without a listener reports one if the
// check takes longer than a millisecond, as it may on a busy machine.
func (b *broker) checkHealth() error {
	for range 5 {
		h := b.server.Healthz(&server.HealthzOptions{Account: "$G", Stream: streamName, Details: true})
		switch {
		case len(h.Errors) == 0:
			return nil
		case h.Errors[0].Type != server.HealthzErrorConn:
			return errors.New(h.Errors[0].Error)
		}
	}
	return nil
}

// The server doesn't answer an append whose write failed. Therefore the broker
// checks the server's health while an append has waited for long.
const (
	healthInterval = 100 * time.Millisecond
	slowThreshold  = 2 * healthInterval
	answerTimeout  = time.Minute
)

func (b *broker) watchHealth() {
	tick := time.NewTicker(healthInterval)
	defer tick.Stop()
	for {
		select {
		case <-b.stopped:
			return
		case now := <-tick.C:
			wait := b.appends.oldestWait(now)
			if wait < slowThreshold {
				continue
			}
			if err := b.checkHealth(); err != nil {
				b.fail(diskspace.WrapDiskFull(fmt.Errorf("writing the log: %w", err)))
			} else if wait > answerTimeout {
				b.fail(errors.New("the NATS server of the log does not answer"))
			}
		}
	}
}

// fail fails all pending and later appends. Only the first err is kept.
func (b *broker) fail(err error) {
	b.mu.Lock()
	if b.fatalErr == nil {
		b.fatalErr = err
	}
	b.mu.Unlock()
	if b.appends != nil {
		b.appends.close(err)
	}
}

func (b *broker) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fatalErr
}

// stop shuts the server down, and returns when all files are closed.
func (b *broker) stop(err error) {
	b.stopOnce.Do(func() {
		close(b.stopped)
		b.fail(err)
		if b.conn != nil {
			b.conn.Close()
		}
		b.server.Shutdown()
		b.server.WaitForShutdown()
	})
}

// runTail is the end of a run: the stream sequence of its last message, and the
// ordinal of its last entry. The zero value means that the run doesn't exist.
type runTail struct {
	streamSeq, lastSeq uint64
	finished           bool
}

// readTail reads the end of a run from the stream.
func (b *broker) readTail(ctx context.Context, run string) (runTail, error) {
	m, h, err := b.lastMessage(ctx, run)
	if err != nil || m == nil {
		return runTail{}, err
	}
	return runTail{m.Sequence, h.lastSeq, h.finished}, nil
}

// explainError returns why the broker has failed, if it has, and err otherwise.
func (b *broker) explainError(err error) error {
	fault := b.failure()
	switch {
	case fault == nil:
		return err
	case errors.Is(fault, ErrClosed):
		return fault
	}
	return fmt.Errorf("%w: %w", runlog.ErrUnavailable, fault)
}

// explainFailedAppend returns why an append failed. If the connection ended, the
// broker fails as well: only its restart can tell whether the entries were stored.
func (b *broker) explainFailedAppend(err error) error {
	var apiErr *server.ApiError
	if errors.As(err, &apiErr) {
		return diskspace.WrapDiskFull(err)
	}
	b.fail(b.appends.connectionError())
	if errors.Is(err, runlog.ErrUncertain) {
		return fmt.Errorf("%w: %w", runlog.ErrUncertain, b.failure())
	}
	return b.explainError(err)
}

// serverLogger passes the server's warnings and errors to a logger.
type serverLogger struct {
	logger    *slog.Logger
	mu        sync.Mutex
	lastFatal string
}

func (s *serverLogger) Noticef(string, ...any) {}
func (s *serverLogger) Debugf(string, ...any)  {}
func (s *serverLogger) Tracef(string, ...any)  {}

func (s *serverLogger) Warnf(format string, args ...any) {
	level := slog.LevelInfo // the server repairs by itself what it warns of
	if strings.HasPrefix(format, "Maximum payloads") {
		level = slog.LevelDebug // ours must be that large
	}
	s.logger.Log(context.Background(), level, "NATS server: "+fmt.Sprintf(format, args...))
}

func (s *serverLogger) Errorf(format string, args ...any) {
	s.logger.Error("NATS server: " + fmt.Sprintf(format, args...))
}

func (s *serverLogger) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastFatal = strings.TrimSpace(fmt.Sprintf(format, args...))
}

func (s *serverLogger) fatalError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastFatal == "" {
		return nil
	}
	return errors.New(s.lastFatal)
}
