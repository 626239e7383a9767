package datacmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/humanize"
)

// Prune deletes finished runs.
type Prune struct {
	OlderThan *command.Duration `placeholder:"TIME" help:"Delete the runs that ended longer ago than this, as in 12h, 7d or 2w."`
	Keep      *int              `placeholder:"N" help:"Keep the N runs that ended last and delete the others."`
	MaxSize   *command.Size     `placeholder:"SIZE" help:"Delete the oldest runs until the rest and their files take at most this much, as in 500MB or 2GiB."`
	DryRun    bool              `help:"Only print what would be deleted."`
	JSON      bool              `name:"json" help:"Print the result as JSON."`

	command.DataFolderFlags
}

// Help returns what --help says besides the flags.
func (*Prune) Help() string {
	return "A run is deleted if --older-than, --keep or --max-size selects it. Runs that have not ended are never deleted. " +
		"If another Beam owns the data folder, it deletes the runs.\n\n    ${program} prune --older-than 30d\n    ${program} prune --keep 100 --max-size 500MB --dry-run"
}

// Validate checks the flags; kong calls it.
func (c *Prune) Validate() error {
	if c.OlderThan == nil && c.Keep == nil && c.MaxSize == nil {
		return errors.New("say which finished runs to delete: --older-than, --keep or --max-size")
	}
	if c.Keep != nil && *c.Keep < 0 {
		return errors.New("--keep must be 0 or more")
	}
	return nil
}

// Run deletes runs and prints which.
func (c *Prune) Run(ctx context.Context, p *command.Program) error {
	request := app.PruneRequest{
		PruneCriteria: engine.PruneCriteria{OlderThan: (*time.Duration)(c.OlderThan), Keep: c.Keep, MaxBytes: (*int64)(c.MaxSize)},
		DryRun:        c.DryRun,
	}
	var result app.PruneResult
	err := c.UseFolder(ctx, app.RequestPrune, request,
		func(conn *controlsocket.Conn) error { return json.NewDecoder(conn).Decode(&result) },
		func(f *datafolder.Folder) (err error) {
			result.Runs, err = app.Prune(ctx, f, request, command.NewWarningLogger(p))
			return err
		})
	if err == nil && result.Error != "" {
		err = errors.New(result.Error)
	}
	if err != nil && result.Runs == nil {
		return err
	}
	result.DryRun, result.Bytes = c.DryRun, 0
	for _, r := range result.Runs {
		result.Bytes += r.Bytes
	}
	return errors.Join(c.printResult(p, result), err)
}

// printResult prints which runs were deleted.
func (c *Prune) printResult(p *command.Program, result app.PruneResult) error {
	if c.JSON {
		if result.Runs == nil {
			result.Runs = []engine.PrunedRun{}
		}
		return json.NewEncoder(p.Stdout).Encode(result)
	}
	for _, r := range result.Runs {
		fmt.Fprintf(p.Stdout, "%s  %s  %-11s  %10s  %s\n", r.ID, r.Ended.Local().Format(time.DateTime), r.State, humanize.Bytes(r.Bytes), r.Photon)
	}
	outcome := "deleted"
	if c.DryRun {
		outcome = "would be deleted"
	}
	_, err := fmt.Fprintf(p.Stdout, "%s %s, %s\n", humanize.Count(len(result.Runs), "run"), outcome, humanize.Bytes(result.Bytes))
	return err
}
