// Package app assembles Beam: it opens the store of a data folder, starts the
// engine and the surfaces on it, and serves other processes at the folder's
// control socket. It knows no command line.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/connect"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/llm"
	"github.com/photon-beam/beam/internal/mcp"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/metrics"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/programdigest"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/replica"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/sampling"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/tracing"
	"github.com/photon-beam/beam/internal/upstream"
	"github.com/photon-beam/beam/internal/upstream/policy"
	"github.com/photon-beam/beam/web"
	"github.com/photon-beam/beam/web/appview"
	"github.com/photon-beam/beam/web/identity"
)

// A Config says what an [App] is made of.
type Config struct {
	Program string     // the name of the command, if it has the command open; empty for another program
	Command string     // how a shell starts that command; empty for its name
	Site    links.Site // where browsers reach the pages
	Photons *registry.Registry
	Offers  func(name string) bool // which of Photons are listed and may be started; nil for all
	// ReadsOnly means that the process runs no photon; see [engine.Options].
	ReadsOnly bool
	Folder    *datafolder.Folder

	Sync store.Sync // when what is recorded is synced to disk

	Models string // the file of models that questions to a model may be sent to; empty for none

	Root    string        // the folder that photons may read; empty for none
	Limits  engine.Limits // of memory and retention
	Streams budget.Limit  // of callers; zero means its default
	Trace   bool          // export OpenTelemetry traces, as the environment says

	TracerProvider trace.TracerProvider // for traces, unless Trace is set; nil for none

	// UpstreamFiles define the upstreams, whose tools are offered as photons, besides the
	// folder's own file; see [config.Load].
	UpstreamFiles []string
	Elicitation   policy.Elicitation // what they may ask

	AskPolicy    mcp.AskPolicy // for questions that an MCP client can't show
	Chat         apps.Policy   // which questions may be answered in a client's chat
	Instructions string        // for the client's model, about such questions

	ConfigureMCP func(*server.MCPServer) // adds to mcp-go's server before it serves; may be nil

	AllowedHosts []string // host names that requests may use, besides localhost
	Token        string   // the token that requests must present; empty for none

	AllowedOrigins []string      // origins of other sites whose pages may be MCP clients
	OAuth          *oauth.Config // whose access tokens MCP clients present; nil if they have none

	Identify func(*http.Request) (generators.Caller, error) // who sends a request; nil if sessions and the token say that

	People  People  // who may use the app, besides the operator and those with the token
	Audit   string  // the audit file; empty for none
	Webhook Webhook // is told of each question

	Logger *slog.Logger
}

// An App is a running Beam: the engine and its surfaces.
type App struct {
	photons   *registry.Registry
	folder    *datafolder.Folder
	store     *datafolder.Store // nil until it is open
	member    *replica.Member   // nil if no other process shares the store
	keys      identity.Keys
	engine    *engine.Engine
	models    *sampling.Service // nil if no models are configured
	upstreams *upstreams        // nil until New has made it
	mcp       *mcp.Server
	web       *web.Server
	signsIn   bool // people sign in with Beam
	metrics   *metrics.Metrics
	logger    *slog.Logger
	streams   *budget.Budget
	control   *controlServer  // nil until ServeControlSocket is called
	tracer    *tracing.Tracer // nil if nothing is traced
	work      workCounter     // requests and MCP sessions in progress

	ownPages   ownPages
	supervisor *upstreamSupervisor
	people     *people // nil until it is open

	sessions       context.Context    // of ServeStdio
	cancelSessions context.CancelFunc // ends them

	baseURL baseURL  // of the pages
	notices *notices // nil if no webhook is told of questions
}

// maxOpenAsks bounds how many questions can be open. Each costs some kilobytes
// while it waits.
var maxOpenAsks = asking.Policy{OpenPerRun: askdata.MaxAtOnce, OpenPerOwner: 30_000}

// New opens the store of c.Folder, recovers its runs and returns the app that
// serves them. The error wraps [runlog.ErrCorrupt] if the store is damaged. The caller still
// owns the folder and closes it after the app.
func New(ctx context.Context, c Config) (*App, error) {
	a, err := NewEngine(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.upstreams, err = newUpstreams(c, a.store.State, a.metrics, a.ownPages.has); err == nil {
		a.supervisor.manager.Store(a.upstreams.Manager)
		a.supervisor.audit.Store(a.upstreams.audit)
		err = a.newSurfaces(c)
	}
	if err != nil {
		stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		err = errors.Join(err, a.engine.Close(stop))
		a.models.Close()
		return nil, errors.Join(err, a.closeFiles())
	}
	start, cancel := context.WithTimeout(ctx, upstream.StartTimeout)
	defer cancel()
	if err := a.upstreams.Start(start); err != nil {
		a.Stop()
		return nil, err
	}
	return a, nil
}

// NewEngine is [New] for a process that only uses [App.Runs]: the app has neither pages nor
// MCP, which take time to start, and can't serve others.
func NewEngine(ctx context.Context, c Config) (*App, error) {
	a := &App{photons: c.Photons, folder: c.Folder, signsIn: c.Identify == nil, logger: c.Logger, metrics: metrics.New(Version())}
	a.supervisor = &upstreamSupervisor{meter: a.metrics}
	a.sessions, a.cancelSessions = context.WithCancel(context.Background())
	models, err := c.loadModels()
	if err != nil {
		return nil, err
	}
	if a.people, err = openPeople(c, a.metrics); err != nil {
		return nil, err
	}
	if a.store, err = c.Folder.OpenStore(ctx, c.Sync, c.Logger); err != nil {
		return nil, errors.Join(err, a.closeFiles())
	}
	if a.keys, err = c.Folder.KeyStore(a.store.State).Load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the data folder can't be used: %w", err), a.closeFiles())
	}
	if err := a.startEngine(ctx, c, models); err != nil {
		return nil, errors.Join(err, a.closeFiles())
	}
	return a, nil
}

// closeFiles closes what has been opened.
func (a *App) closeFiles() (err error) {
	if a.upstreams != nil {
		err = a.upstreams.audit.Close()
	}
	if a.member != nil {
		if left := a.member.Leave(); left != nil { // others wait for the lease
			a.logger.Warn("leaving the processes that share the store", "err", left)
		}
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	if a.tracer != nil {
		if lost := a.tracer.Close(); lost != nil { // the collector may be gone: no error of ours
			a.logger.Warn("the last traces could not be sent", "err", lost)
		}
	}
	return errors.Join(err, a.people.close())
}

// UpstreamProblems says in a sentence each which upstreams are not connected, and why.
func (a *App) UpstreamProblems() []string {
	if a.upstreams == nil {
		return nil
	}
	return a.upstreams.problems()
}

// AwaitUpstreamOf waits for the server of a tool that isn't known, until Beam has tried to connect
// to it, or for half a minute. It reports whether it did.
func (a *App) AwaitUpstreamOf(ctx context.Context, tool string) bool {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return a.upstreams != nil && a.upstreams.AwaitUpstreamOf(ctx, tool)
}

// Runs returns the runs for the person at the machine.
func (a *App) Runs() *runs.Local {
	return &runs.Local{Engine: a.engine, Caller: callers.Operator(), Sampling: a.models}
}

// startEngine starts the engine on the log, with the runs that are in it.
func (a *App) startEngine(ctx context.Context, c Config, models *llm.Models) error {
	options := engine.Options{
		Photons: c.Photons, ReadsOnly: c.ReadsOnly, Offers: c.Offers, Log: a.store.Store, Blobs: c.Folder.Blobs, Ephemeral: c.Folder.Temporary, Root: c.Root,
		Program: programdigest.Get, Policy: maxOpenAsks, Limits: c.Limits, Logger: c.Logger, Meter: a.metrics, Supervisor: a.supervisor,
		People: a.people.mayExist(c), Audit: a.people.audit, RunURL: a.runURL,
	}
	if c.Folder.Temporary {
		options.Program = nil // nothing is replayed by another program
	} else {
		go programdigest.Get() // before the first run needs it
	}
	var err error
	if a.tracer, err = c.openTracer(ctx); err != nil {
		return err
	}
	if a.tracer != nil {
		options.Tracer = a.tracer
	}
	if !c.Folder.Temporary {
		options.KeyDir = c.Folder.KeyDir()
	}
	if err := a.join(ctx, c, &options); err != nil {
		return err
	}
	a.engine = engine.New(options)
	a.metrics.RegisterEngine(a.engine)
	a.metrics.RegisterStore(a.isStoreUp)
	a.streams = budget.New(budget.Streams, c.Streams.Or(budget.DefaultStreams))
	a.metrics.RegisterBudgets(append(a.engine.Budgets(), a.streams)...)
	if models != nil {
		config := sampling.Config{Engine: a.engine, Models: models, Meter: a.metrics, State: a.store.State, Shared: a.sharedState(), Logger: c.Logger}
		if a.member != nil {
			config.Replica = a.member
		}
		a.models = sampling.New(config)
	}
	if base, ok := c.Site.Base(); ok {
		a.baseURL.set(string(base))
	}
	if a.notices, err = newNotices(c, a.engine, a.store.State, &a.baseURL); err != nil {
		return err
	}
	if err := a.engine.Recover(ctx); err != nil {
		return err
	}
	a.engine.PeopleChanged()
	if a.models != nil {
		a.models.Resume()
	}
	return nil
}

// loadModels reads the file of models, if there is one.
func (c *Config) loadModels() (*llm.Models, error) {
	if c.Models == "" {
		return nil, nil
	}
	return llm.Load(c.Models)
}

// newSurfaces makes the MCP server and the pages.
func (a *App) newSurfaces(c Config) (err error) {
	a.mcp, err = mcp.New(mcp.Config{
		Engine: a.engine, Photons: c.Photons, StateSecret: a.keys.Sealing, Sessions: a.sharedState(),
		Name: "beam", Version: Version(), Instructions: toolInstructions + c.Instructions,
		Upstreams: a.upstreams.Catalogue(), AskPolicy: c.AskPolicy, SignInHint: c.signInHint(), Streams: a.streams, Configure: c.ConfigureMCP, TraceContext: traceContextFunc(a.tracer), Logger: c.Logger,
		Apps: mcp.Apps{View: appview.New(a.engine), Marks: apps.NewMarks(a.store.State), Policy: c.Chat, Ephemeral: c.Folder.Temporary},
	})
	if err != nil {
		return err
	}
	site := web.Config{
		Version: Version(),
		Streams: a.streams, Engine: a.engine, Photons: c.Photons, Keys: a.keys, Sampling: a.models, MCP: a.mcp, Metrics: a.metrics.Handler(),
		Upstreams: a.upstreams, SignInCommand: c.signInCommand(), Site: c.Site, Hosts: c.AllowedHosts, Token: c.Token, Identify: c.Identify, Logger: c.Logger,
	}
	site.AllowedOrigins = c.AllowedOrigins
	if c.OAuth != nil {
		config := *c.OAuth
		config.Logger = c.Logger
		site.OAuth = oauth.NewVerifier(a.sessions, config)
	}
	a.people.addTo(&site, c)
	if c.Program != "" {
		if site.Program, err = connect.ThisProgram(c.Program); err != nil {
			c.Logger.Warn("the pages can't say how clients start this program", "err", err)
		}
	}
	site.State, site.Ready = a.sharedState(), a.storeErr
	if a.web, err = web.New(site); err != nil {
		a.mcp.Close()
		return err
	}
	a.metrics.RegisterSignIn(a.web.SignInCounts)
	a.people.watchUsers(a.engine.PeopleChanged)
	return nil
}

// toolInstructions tell a client's model how Beam's tools behave.
const toolInstructions = "These tools may stop to ask the user a question and go on when it is answered. "

// Collector collects the app's metrics.
func (a *App) Collector() prometheus.Collector { return a.metrics }

// HasScript reports whether the pages have their script, or are plain.
func (a *App) HasScript() bool { return a.web.HasScript() }

// ServeStdio serves one MCP client until in ends or ctx does. baseURL returns the
// base URL of the pages where the client's questions can be answered. It returns an
// error if the app is closed.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, baseURL func() (string, error)) error {
	return a.serveStdio(ctx, a.mcp, in, out, baseURL)
}

// ServeUpstreamStdio is [App.ServeStdio] for a client of a single upstream, unless name is
// empty. The error wraps [ErrNoUpstream] if there is none of that name.
func (a *App) ServeUpstreamStdio(ctx context.Context, name string, in io.Reader, out io.Writer, baseURL func() (string, error)) error {
	server, err := a.stdioServer(name)
	if err != nil {
		return err
	}
	return a.serveStdio(ctx, server, in, out, baseURL)
}

func (a *App) serveStdio(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer, baseURL func() (string, error)) error {
	if !a.work.begin() {
		return errClosed
	}
	defer a.work.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.sessions, cancel)()
	return server.ServeStdio(ctx, in, out, callers.Operator(), baseURL)
}

// ErrNoUpstream is wrapped by the error for an upstream that isn't there.
var ErrNoUpstream = errors.New("there is no such upstream")

// stdioServer returns the server for the operator's clients: of all photons, or of the
// only upstream, if that is not empty.
func (a *App) stdioServer(only string) (*mcp.Server, error) {
	if only == "" {
		return a.mcp, nil
	}
	server, ok := a.mcp.Alone(only, callers.Operator())
	if !ok {
		return nil, fmt.Errorf("%w as %q", ErrNoUpstream, only)
	}
	return server, nil
}
