package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/mcp/apps"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// AppFlags are the flags of every command that runs photons.
type AppFlags struct {
	Data string `common:"" default:"" placeholder:"DIR" type:"path" help:"Folder where Beam stores runs and their questions, uploaded files, and the keys of browser sessions. Beam creates it with mode 0700 if it doesn't exist. By default, beam in the state folder of your home folder."`
	StoreFlags
	Memory bool `common:"" help:"Store nothing: runs are kept in memory and end with the program."`

	Sync         string   `default:"default" enum:"default,always,interval" placeholder:"WHEN" help:"When what is recorded is synced to disk: answers, approvals, steps and starts of durable runs before they take effect, and everything else within a second (default); everything before it takes effect (always); or everything within a second (interval). Ending the program loses nothing in any case; a power failure can lose what isn't synced."`
	EvictAfter   Duration `default:"10m" placeholder:"TIME" help:"How long a durable run that waits for an answer stays in memory (default ${default}). Its answer resumes it."`
	ReplayAlways bool     `help:"Evict each durable run as soon as it waits, so that every answer replays it. For development: it shows at once what a replay does otherwise after a restart, or after hours."`

	retentionFlags
	budgetFlags

	Photons photonPatterns `placeholder:"PATTERN" help:"Photons to serve: names, or patterns such as explore_* (quote them). Separate several with commas, or repeat the flag. Each must match a photon. Photons that aren't served are in no list and can't be started; runs of them that were started before continue. By default, all are served."`

	UpstreamFlags

	Models string `common:"" default:"" placeholder:"FILE" type:"path" help:"File of the models that tools may ask, once you have approved what is sent: docs/sampling.md describes it. Without it, or for clients with a model of their own, Beam calls none, and you can answer in the model's place."`

	Root string `common:"" default:"" placeholder:"DIR" type:"path" help:"Folder that tools may read. Without it, tools can't read any folder."`

	AskFlags

	Traces string `default:"off" enum:"off,otlp" placeholder:"WHERE" help:"Where to send OpenTelemetry traces of runs: off, or otlp, over HTTP to the collector that $$OTEL_EXPORTER_OTLP_ENDPOINT names, by default http://localhost:4318 (default ${default})."`

	LogLevel  levelFlag `default:"info" placeholder:"LEVEL" help:"What to log to stderr: debug, info, warn or error (default ${default})."`
	LogFormat string    `default:"text" enum:"text,json" placeholder:"FORMAT" help:"How to log: text or json (default ${default})."`
}

func (c *AppFlags) CheckFlags() error {
	if c.Memory && c.Data != "" {
		return errors.New("--memory and --data (or the variable BEAM_DATA) exclude each other")
	}
	if c.Store != "" && c.Memory {
		return errors.New("--memory and --store exclude each other")
	}
	if c.EvictAfter <= 0 {
		return errors.New("--evict-after must be more than 0")
	}
	return errors.Join(c.validateRoot(), c.StoreFlags.validate(), c.retentionFlags.validate(), c.budgetFlags.validate(), c.UpstreamFlags.CheckFlags())
}

func (c *AppFlags) validateRoot() error {
	if c.Root == "" {
		return nil
	}
	if info, err := os.Stat(c.Root); err != nil || !info.IsDir() {
		return fmt.Errorf("--root: there is no folder %s", c.Root)
	}
	return nil
}

func (c *AppFlags) OpenFolder() (*datafolder.Folder, error) {
	if c.Memory {
		return datafolder.OpenTemporary()
	}
	f, err := datafolder.Open(c.Data)
	if err != nil || c.Store == "" {
		return f, err
	}
	if err := f.UseDatabase(c.Store, c.SecretsKeyFile); err != nil {
		return nil, errors.Join(fmt.Errorf("--store: %w", err), f.Close())
	}
	return f, nil
}

// RedirectDir returns the folder for pages that lead a browser to a sign-in address; "" if
// there is none.
func (c *AppFlags) RedirectDir() string {
	if c.Memory {
		return os.TempDir()
	}
	dir, _ := datafolder.Resolve(c.Data) // opening it reports the error
	return dir
}

// Config returns the configuration that the flags select. A terminal shows how far the folder's
// migration has come.
func (c *AppFlags) Config(p *Program, folder *datafolder.Folder, logger *slog.Logger) app.Config {
	folder.Progress = p.CopyProgress()
	return app.Config{
		Program:       p.Name,
		Command:       p.Command,
		Photons:       p.Registry,
		Offers:        c.Photons.match,
		Folder:        folder,
		Sync:          syncModes[c.Sync],
		Models:        c.Models,
		Root:          c.Root,
		Limits:        c.setBudgets(c.setRetention(engine.Limits{EvictAfter: time.Duration(c.EvictAfter), ReplayAlways: c.ReplayAlways})),
		Trace:         c.Traces == "otlp",
		UpstreamFiles: c.MCPConfig,
		Elicitation:   c.elicitation(),
		AskPolicy:     c.mcpAskPolicy(),
		Chat:          apps.Policy{Destructive: c.AppsDestructive},
		Instructions:  c.mcpAskPolicy().Instructions(),
		Logger:        logger,
	}
}

// NewApp is [app.New]; its error says what to do about a damaged log.
func NewApp(ctx context.Context, c app.Config) (*app.App, error) {
	a, err := app.New(ctx, c)
	if errors.Is(err, runlog.ErrCorrupt) {
		err = fmt.Errorf("%w; nothing is changed: restore a backup, or let the command repair copy what can be read", err)
	}
	return a, err
}

var syncModes = map[string]store.Sync{"default": store.SyncDefault, "always": store.SyncAlways, "interval": store.SyncInterval}
