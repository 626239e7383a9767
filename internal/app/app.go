// Package app assembles Beam: it opens a data folder and its log, starts the
// engine and the surfaces on it, and serves other processes at the folder's
// control socket. It knows no command line.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/tracing"
	"github.com/photon-beam/beam/web"
)

// A Config says what an [App] is made of.
type Config struct {
	Program string // the name that the pages show
	Photons *generators.Registry
	Folder  *DataFolder

	SyncAlways bool // sync every entry to disk before it counts
	AcceptLoss bool // recover what can be read of a damaged log

	Root   string        // the folder that photons may read; empty for none
	Limits engine.Limits // of memory and retention
	Trace  bool          // export OpenTelemetry traces

	AskPolicy    mcp.AskPolicy // for questions that an MCP client can't show
	Instructions string        // for the client's model, about such questions

	AllowedHosts []string // host names that requests may use, besides localhost
	Token        string   // the token that requests must present; empty for none

	Logger *slog.Logger
}

// An App is a running Beam: the engine and its surfaces.
type App struct {
	photons *generators.Registry
	folder  *DataFolder
	log     runlog.Log
	engine  *engine.Engine
	mcp     *mcp.Server
	web     *web.Server
	logger  *slog.Logger
	control *controlServer  // nil until ServeControlSocket is called
	tracer  *tracing.Tracer // nil if nothing is traced

	closeLog func() error // called once the engine is closed
}

// maxOpenAsks bounds how many questions can be open. Each costs some kilobytes
// while it waits.
var maxOpenAsks = ask.Policy{OpenPerRun: ask.MaxAtOnce, OpenPerOwner: 30_000}

// New opens the log of c.Folder, recovers its runs and returns the app that
// serves them. The error wraps [jetstream.ErrCorrupt] if the log is damaged and
// c.AcceptLoss is not set. The caller still owns the folder and closes it after
// the app.
func New(ctx context.Context, c Config) (*App, error) {
	a := &App{photons: c.Photons, folder: c.Folder, logger: c.Logger}
	go releaseIdleMemory(ctx)
	if err := a.openLog(ctx, c); err != nil {
		return nil, err
	}
	meter := metrics.New(Version())
	if err := a.startEngine(ctx, c, meter); err != nil {
		return nil, errors.Join(err, a.closeLog())
	}
	if err := a.newSurfaces(c, meter); err != nil {
		stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return nil, errors.Join(err, a.engine.Close(stop), a.closeLog())
	}
	return a, nil
}

// openLog opens the log of the app's folder, recovering a damaged one if
// c.AcceptLoss is set.
func (a *App) openLog(ctx context.Context, c Config) (err error) {
	open := c.Folder.openLog
	if c.AcceptLoss {
		open = c.Folder.openOrRecoverLog
	}
	a.log, a.closeLog, err = open(ctx, c.SyncAlways, c.Logger)
	return err
}

// startEngine starts the engine on the log, with the runs that are in it.
func (a *App) startEngine(ctx context.Context, c Config, meter *metrics.Metrics) error {
	options := engine.Options{
		Photons: c.Photons, Log: a.log, Blobs: c.Folder.blobs, Ephemeral: c.Folder.temporary, Root: c.Root,
		Policy: maxOpenAsks, Limits: c.Limits, Logger: c.Logger, Meter: meter,
	}
	if c.Trace {
		if err := a.startTracing(ctx, &options); err != nil {
			return err
		}
	}
	if !c.Folder.temporary {
		options.KeyDir = c.Folder.keyDir()
	}
	a.engine = engine.New(options)
	meter.RegisterEngine(a.engine)
	return a.engine.Recover(ctx)
}

// newSurfaces makes the MCP server and the pages.
func (a *App) newSurfaces(c Config, meter *metrics.Metrics) (err error) {
	keys := c.Folder.sessionKeys
	a.mcp, err = mcp.New(mcp.Config{
		Engine: a.engine, Photons: c.Photons, StateSecret: keys.Sealing,
		Name: "beam", Version: Version(), Instructions: toolInstructions + c.Instructions,
		AskPolicy: c.AskPolicy, TraceContext: a.traceContextFunc(), Logger: c.Logger,
	})
	if err != nil {
		return err
	}
	site := web.Config{
		Engine: a.engine, Photons: c.Photons, Keys: keys, MCP: a.mcp, Metrics: meter.Handler(),
		Program: c.Program, Hosts: c.AllowedHosts, Token: c.Token, Logger: c.Logger,
	}
	if l, ok := a.log.(interface{ Err() error }); ok {
		site.Ready = l.Err
	}
	a.web, err = web.New(site)
	return err
}

// toolInstructions tell a client's model how Beam's tools behave.
const toolInstructions = "These tools may stop to ask the user a question and go on when it is answered. "

// SignInURL returns a new single-use URL below base, the base URL of the pages. The
// first browser that opens it is signed in as the operator.
func (a *App) SignInURL(base string) string { return a.web.SignInURL(base) }

// HasScript reports whether the pages have their script, or are plain.
func (a *App) HasScript() bool { return a.web.HasScript() }

// ServeStdio serves one MCP client until in ends or ctx does. baseURL returns the
// base URL of the pages where the client's questions can be answered.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, baseURL func() (string, error)) error {
	return a.mcp.ServeStdio(ctx, in, out, callers.Operator(), baseURL)
}
