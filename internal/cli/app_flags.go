package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog/jetstream"
)

// appFlags are the flags of every command that runs photons.
type appFlags struct {
	Data   string `default:"" placeholder:"DIR" type:"path" help:"Folder for what Beam keeps: runs and their questions, files that people upload, and the keys of browser sessions. It is created with mode 0700 if it doesn't exist. By default, the folder for programs' state in your home folder."`
	Memory bool   `help:"Keep nothing: runs live in memory and end with the program."`

	Sync        string       `default:"interval" enum:"always,interval" placeholder:"WHEN" help:"When records are synced to disk: always, before each takes effect, or interval, at most a second later (default ${default}). Ending the program loses nothing either way; a power failure does with interval."`
	AcceptLoss  bool         `help:"If the log is damaged, continue with what can be read of it. The damaged log is moved to a folder of its own in the data folder, and runs with a gap end with an error. Without this flag, Beam refuses a damaged log."`
	EvictAfter  durationFlag `default:"10m" placeholder:"TIME" help:"How long a durable run that waits for an answer stays in memory (default ${default}). Its answer brings it back."`
	MaxResident int          `default:"250" placeholder:"N" help:"How many such runs stay in memory at most (default ${default})."`

	retentionFlags

	Root string `default:"" placeholder:"DIR" type:"path" help:"Folder that tools may read, such as the one that lists what fills a disk. Without it, tools can read no folder."`

	askFlags

	Traces string `default:"off" enum:"off,otlp" placeholder:"WHERE" help:"Where to send OpenTelemetry traces of runs: off, or otlp, over HTTP to the collector that $$OTEL_EXPORTER_OTLP_ENDPOINT names, by default http://localhost:4318 (default ${default})."`

	LogLevel  levelFlag `default:"info" placeholder:"LEVEL" help:"What to log to stderr: debug, info, warn or error (default ${default})."`
	LogFormat string    `default:"text" enum:"text,json" placeholder:"FORMAT" help:"How to log: text or json (default ${default})."`
}

func (c *appFlags) validate() error {
	if c.Memory && c.Data != "" {
		return errors.New("--memory and --data (or the variable BEAM_DATA) exclude each other")
	}
	if c.EvictAfter <= 0 || c.MaxResident <= 0 {
		return errors.New("--evict-after and --max-resident must be more than 0")
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

func (c *appFlags) openFolder() (*app.DataFolder, error) {
	if c.Memory {
		return app.OpenTemporaryFolder()
	}
	return app.OpenDataFolder(c.Data)
}

// config returns the configuration that the flags stand for.
func (c *appFlags) config(p *program, folder *app.DataFolder, logger *slog.Logger) app.Config {
	return app.Config{
		Program:      p.name,
		Photons:      p.registry,
		Folder:       folder,
		SyncAlways:   c.Sync == "always",
		AcceptLoss:   c.AcceptLoss,
		Root:         c.Root,
		Limits:       c.setRetention(engine.Limits{ResidentFor: time.Duration(c.EvictAfter), MaxResident: c.MaxResident}),
		Trace:        c.Traces == "otlp",
		AskPolicy:    c.mcpAskPolicy(),
		Instructions: c.mcpInstructions(),
		Logger:       logger,
	}
}

// newApp is [app.New] with an error that says what to do about a damaged log.
func newApp(ctx context.Context, c app.Config) (*app.App, error) {
	a, err := app.New(ctx, c)
	if errors.Is(err, jetstream.ErrCorrupt) && !c.AcceptLoss {
		err = fmt.Errorf("%w; nothing is changed: restore a backup, or start once with --accept-loss to continue with what can be read (the command check says what that is)", err)
	}
	return a, err
}
