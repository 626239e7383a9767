package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
	"github.com/photon-beam/beam/internal/tracing"
	"github.com/photon-beam/beam/web"
)

// appFlags are the flags that every command that runs photons has.
type appFlags struct {
	Data   string `default:"" placeholder:"DIR" type:"path" help:"Folder for what Beam keeps: runs and their questions, the files that people hand in, the keys of browser sessions. Made, with mode 0700, if it isn't there. The default is the folder for programs' state in your home."`
	Memory bool   `help:"Keep nothing: runs live in memory, and end with the program."`

	Sync       string       `default:"interval" enum:"always,interval" placeholder:"WHEN" help:"When what is recorded reaches the disk: always before it counts, or interval, a second later at most (default ${default}). The end of the program loses nothing either way; a loss of power does with interval."`
	AcceptLoss bool         `help:"If the log is damaged, go on with what can be read of it: what was there is moved aside, to a folder of its own in the data folder, and runs of which something in the middle is missing end with an error. Without it, a damaged log is refused."`
	HotFor     durationFlag `default:"10m" placeholder:"TIME" help:"How long a durable run that waits for an answer stays in memory (default ${default}). Its answer brings it back."`
	HotMax     int          `default:"250" placeholder:"N" help:"How many of them do, at most (default ${default})."`

	retentionFlags

	Root string `default:"" placeholder:"DIR" type:"path" help:"Folder that tools may read, such as the one that lists what fills a disk. Without it they may read none."`

	askFlags

	Traces string `default:"off" enum:"off,otlp" placeholder:"WHERE" help:"Where OpenTelemetry traces of runs are sent: off (the default), or otlp, over HTTP to the collector that the variable OTEL_EXPORTER_OTLP_ENDPOINT names (http://localhost:4318 without it)."`

	LogLevel  levelFlag `default:"info" placeholder:"LEVEL" help:"What is logged to stderr: debug, info, warn or error (default ${default})."`
	LogFormat string    `default:"text" enum:"text,json" placeholder:"FORMAT" help:"How it is logged: text or json (default ${default})."`
}

func (c *appFlags) validate() error {
	if c.Memory && c.Data != "" {
		return errors.New("--memory and --data (or the variable BEAM_DATA) exclude each other")
	}
	if c.HotFor <= 0 || c.HotMax <= 0 {
		return errors.New("--hot-for and --hot-max must be more than 0")
	}
	return errors.Join(c.validateRoot(), c.retentionFlags.validate())
}

func (c *appFlags) validateRoot() error {
	if c.Root == "" {
		return nil
	}
	if info, err := os.Stat(c.Root); err != nil || !info.IsDir() {
		return fmt.Errorf("--root: there is no folder %s", c.Root)
	}
	return nil
}

func (c *appFlags) newLogger(p *program) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(c.LogLevel)}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}

func (c *appFlags) openFolder() (*dataFolder, error) {
	if c.Memory {
		return openTemporaryFolder()
	}
	return openDataFolder(c.Data)
}

// openLog opens the log of a data folder. If it is damaged, what can be read of
// it takes its place, if that was accepted.
func (c *appFlags) openLog(ctx context.Context, store *dataFolder, logger *slog.Logger) (runlog.Log, func() error, error) {
	always := c.Sync == "always"
	l, closeLog, err := store.openLog(ctx, always, logger)
	if !errors.Is(err, jetstream.ErrCorrupt) {
		return l, closeLog, err
	}
	if !c.AcceptLoss {
		return nil, nil, fmt.Errorf("%w; nothing is touched: restore a backup, or go on with what can be read by starting once with --accept-loss (the command check says what that is)", err)
	}
	report, err := jetstream.Recover(ctx, jetstream.Options{Dir: filepath.Join(store.dir, logFolder), Logger: logger})
	if err != nil {
		return nil, nil, fmt.Errorf("the damaged log can't be recovered: %w", err)
	}
	logger.Warn("the log was damaged, and the loss is accepted", "damage", report.Damage, "kept", report.Kept(),
		"holed", slices.Sorted(maps.Keys(report.Holed)), "gone", report.Headless, "aside", report.Aside)
	return store.openLog(ctx, always, logger)
}

// app is a Beam at work: the engine and its surfaces.
type app struct {
	photons *generators.Registry
	log     runlog.Log
	engine  *engine.Engine
	mcp     *mcp.Server
	web     *web.Server
	logger  *slog.Logger
	control *controlServer  // serves who joins at the folder's socket; nil if nobody can
	tracer  *tracing.Tracer // nil if nothing is traced
	// closeLog is called when the engine is closed.
	closeLog func() error
}

// startApp sets the engine and the surfaces up. The site is to be as w says.
func (c *appFlags) startApp(ctx context.Context, p *program, store *dataFolder, logger *slog.Logger, w web.Config) (*app, error) {
	b := &app{photons: p.registry, logger: logger}
	go releaseIdleMemory(ctx)
	runs, closeLog, err := c.openLog(ctx, store, logger)
	if err != nil {
		return nil, err
	}
	b.log, b.closeLog = runs, closeLog
	meter := metrics.New(version())
	options := engine.Options{
		Photons: p.registry, Log: runs, Blobs: store.blobs, Ephemeral: store.temporary, Root: c.Root,
		Policy: askLimits, Limits: c.applyTo(engine.Limits{ResidentFor: time.Duration(c.HotFor), MaxResident: c.HotMax}), Logger: logger, Meter: meter,
	}
	if c.Traces == "otlp" {
		if err := b.startTracing(ctx, &options); err != nil {
			return nil, errors.Join(err, closeLog())
		}
	}
	if !store.temporary {
		options.KeyDir = filepath.Join(store.dir, secretKeysFolder)
	}
	b.engine = engine.New(options)
	meter.RegisterEngine(b.engine)
	w.Metrics, w.Program = meter.Handler(), p.name
	if err := b.engine.Recover(ctx); err != nil {
		return nil, errors.Join(err, b.closeLog())
	}
	b.mcp, err = mcp.New(mcp.Config{
		Engine: b.engine, Photons: p.registry, StateSecret: store.sessionKeys.Sealing,
		Name: "beam", Version: version(), Instructions: toolInstructions + c.askFlags.mcpInstructions(),
		AskPolicy: c.askFlags.mcpAskPolicy(), TraceContext: b.traceContextFunc(), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	if l, ok := runs.(interface{ Err() error }); ok {
		w.Ready = l.Err
	}
	w.Engine, w.Photons, w.Keys, w.MCP, w.Logger = b.engine, p.registry, store.sessionKeys, b.mcp, logger
	b.web, err = web.New(w)
	return b, err
}

// toolInstructions tell a model how Beam's tools behave.
const toolInstructions = "These tools may stop to ask the user a question and go on when it is answered. "

// newHTTPServer returns a server with the limits that keep slow and greedy
// clients off.
func (b *app) newHTTPServer() *http.Server {
	server := b.web.NewHTTPServer()
	if b.tracer != nil {
		server.Handler = b.tracer.Handler(server.Handler)
	}
	return server
}

// serveAndDrain serves until ctx ends, then drains: no new runs, those that work
// may go on for a while, followers are told, and connections are closed.
func (b *app) serveAndDrain(ctx context.Context, l net.Listener) error {
	server := b.newHTTPServer()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		b.logger.Info("draining")
	}
	b.control.stopAccepting()
	runs, cancel := context.WithTimeout(context.Background(), runDrainTimeout)
	defer cancel()
	if e := b.engine.Close(runs); e != nil {
		b.logger.Warn("closing the engine", "err", e)
	}
	b.web.Close()
	b.mcp.Close()
	b.control.close(sessionCloseTimeout)
	connections, cancel := context.WithTimeout(context.Background(), connectionDrainTimeout)
	defer cancel()
	if server.Shutdown(connections) != nil {
		server.Close()
	}
	return errors.Join(err, b.closeLog())
}
