// Package beam serves photons: tools, written as Go generators, that can stop to ask.
// They are served to people as web pages, to scripts over HTTP, and to MCP clients over
// HTTP and stdio.
//
// A program of its own that serves photons is
//
//	func main() { beam.Main(Hello, Deploy) }
//
// [New] makes a [Beam] that another program serves beside its own handlers:
//
//	b, err := beam.New(beam.Config{Photons: photons, URL: "https://tools.example/beam", Identify: identify})
//	...
//	mux.Handle("/beam/", b)
package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/budget"
	"github.com/photon-beam/beam/internal/callers"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/datastar"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/registry"
	"github.com/photon-beam/beam/internal/upstream/config"
	"github.com/photon-beam/beam/internal/upstream/policy"
)

// A Caller is who sends a request. Its Roles may include [generators.RoleOperator].
type Caller = generators.Caller

// ErrForbidden is returned by Config.Identify for somebody who is known, but may not use
// the Beam.
var ErrForbidden = callers.ErrForbidden

// A Beam serves photons. It is an [http.Handler] for the pages, the MCP endpoint (/mcp
// below the path in Config.URL) and the HTTP interface. Its methods may be called from
// several goroutines. Beams in one process have nothing in common.
type Beam struct {
	app     *app.App
	folder  *datafolder.Folder
	site    links.Site
	pages   *app.PageServer
	handler http.Handler

	shutdown    sync.Once
	shutdownErr error
}

var _ http.Handler = (*Beam)(nil)

// New returns a Beam that serves what c says, and continues the runs that are stored in
// Config.Data. It returns an error if c or one of the photons is invalid, or if the
// folder can't be used, as when another Beam has it. The caller must call
// [Beam.Shutdown].
func New(c Config) (*Beam, error) {
	site, err := c.validate()
	if err != nil {
		return nil, err
	}
	photons, err := registry.NewRegistry(c.Photons...)
	if err != nil {
		return nil, err
	}
	if _, err := config.Load(c.Upstreams...); err != nil {
		return nil, fmt.Errorf("Config.Upstreams: %w", err)
	}
	logger := c.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	open := datafolder.OpenTemporary
	if c.Data != "" {
		open = func() (*datafolder.Folder, error) { return datafolder.Open(c.Data) }
	}
	folder, err := open()
	if err != nil {
		return nil, err
	}
	if c.Store != "" {
		if err := folder.UseDatabase(c.Store, c.SecretsKeyFile); err != nil {
			return nil, errors.Join(fmt.Errorf("Config.Store: %w", err), folder.Close())
		}
	}
	asks := c.Asks.mcpPolicy()
	a, err := app.New(context.Background(), app.Config{
		Photons: photons, Folder: folder, Site: site,
		Sync: c.sync(),
		Root: c.Root, Limits: c.Limits.engineLimits(), Streams: budget.Limit(c.Limits.Streams), TracerProvider: c.TracerProvider,
		Models: c.Models, UpstreamFiles: c.Upstreams, Elicitation: policy.DefaultElicitation(),
		AskPolicy: asks, Chat: apps.Policy{Destructive: c.Asks.AppsDestructive}, Instructions: asks.Instructions(), ConfigureMCP: c.MCP,
		AllowedHosts: c.hosts(), AllowedOrigins: c.origins(), OAuth: c.oauthConfig(), Identify: c.Identify, Token: c.Token, Logger: logger,
	})
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	if !a.HasScript() {
		logger.Warn("the pages are plain: the program was built without their script, Datastar. " + datastar.HowToAdd())
	}
	base, _ := site.Base()
	b := &Beam{app: a, folder: folder, site: site, pages: app.NewServedPages(a, string(base)), handler: a.Handler()}
	a.ServeControlSocket(context.Background(), filepath.Base(os.Args[0]), c.Root, b.pages)
	return b, nil
}

// ServeHTTP implements [http.Handler]. After [Beam.Shutdown], it responds with status 503.
func (b *Beam) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.handler.ServeHTTP(w, r) }

// ServeStdio serves one MCP client: each message that it reads from in or writes to out
// is one line. The runs that the client starts belong to the operator, who is whoever
// started this process. ServeStdio returns nil when in ends, ctx is done or the Beam is
// shut down, once the requests in progress have their responses or a second has passed.
// It doesn't end a call of in.Read that is in progress.
//
// Passwords, files, and questions that the client can't show are answered on the pages,
// whose address ServeStdio knows only if Config.URL is complete.
func (b *Beam) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return b.app.ServeStdio(ctx, in, out, b.pages.BaseURLFunc(nil))
}

// SignInURL returns a new address that signs the first browser that opens it in as the
// operator, who sees all runs. It is a path if Config.URL has no host. It is valid for a
// day. If Config.Identify is set, there is none, and SignInURL returns "".
func (b *Beam) SignInURL() string { return b.app.SignInURL(b.site.String()) }

// Collector collects the metrics of the Beam, whose names begin with beam_. Beams in one
// process need a registry each, or labels that differ
// ([prometheus.WrapRegistererWith]).
func (b *Beam) Collector() prometheus.Collector { return b.app.Collector() }

// Shutdown shuts the Beam down without interrupting what works: it starts no new runs,
// waits for those that work, and not for those that wait for an answer, ends streams and
// MCP sessions, and closes the log. Durable runs in Config.Data continue with the next
// Beam that has the folder; others end. If ctx is done first, Shutdown stops the runs
// that still work, ends requests, which takes it a few seconds at most, and returns the
// error of ctx.
//
// Call it before the Shutdown of an [http.Server] that serves the Beam, which waits for
// streams. Further calls wait for the first, and return its error.
func (b *Beam) Shutdown(ctx context.Context) error {
	b.shutdown.Do(func() { b.shutdownErr = errors.Join(b.app.Close(ctx), b.folder.Close()) })
	return b.shutdownErr
}
