package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/runlog"
)

// pruneCommand is the command that deletes finished runs.
type pruneCommand struct {
	OlderThan *durationFlag `placeholder:"TIME" help:"Delete the runs that ended longer ago, as in 12h, 7d or 2w."`
	Keep      *int          `placeholder:"N" help:"Keep the N that ended last, and delete the others."`
	MaxSize   *sizeFlag     `placeholder:"SIZE" help:"Delete the oldest until the others take at most so much, with their files, as in 500MB or 2GiB."`
	DryRun    bool          `help:"Only say what would be deleted."`
	JSON      bool          `name:"json" help:"Say it as JSON."`

	dataFolderFlags
}

// Help is what --help says beside the flags.
func (*pruneCommand) Help() string {
	return "A run is deleted if any of --older-than, --keep and --max-size is against it. Runs that have not ended are never deleted. " +
		"It works while a Beam owns the data folder, through it, and while none does."
}

// Validate is called once the flags are read.
func (c *pruneCommand) Validate() error {
	if c.OlderThan == nil && c.Keep == nil && c.MaxSize == nil {
		return errors.New("say which finished runs are to be deleted: --older-than, --keep or --max-size")
	}
	if c.Keep != nil && *c.Keep < 0 {
		return errors.New("--keep must be 0 or more")
	}
	return nil
}

// pruneRequest is what an owner is asked for.
type pruneRequest struct {
	engine.PruneCriteria
	DryRun bool `json:"dryRun,omitempty"`
}

// pruneResult is what came of it.
type pruneResult struct {
	Runs   []engine.PrunedRun `json:"runs"` // oldest first
	Bytes  int64              `json:"bytes"`
	DryRun bool               `json:"dryRun"`
	Error  string             `json:"error,omitempty"`
}

func (c *pruneCommand) request() pruneRequest {
	return pruneRequest{engine.PruneCriteria{OlderThan: (*time.Duration)(c.OlderThan), Keep: c.Keep, MaxBytes: (*int64)(c.MaxSize)}, c.DryRun}
}

// Run deletes, and says what.
func (c *pruneCommand) Run(ctx context.Context, p *program) error {
	what := c.request()
	var result pruneResult
	err := c.useFolder(ctx, requestPrune, what,
		func(conn *controlsocket.Conn) error { return json.NewDecoder(conn).Decode(&result) },
		func(f *dataFolder) error {
			return f.withLog(ctx, p, func(l runlog.Log) (err error) {
				result.Runs, err = engine.PruneLog(ctx, l, f.blobs, filepath.Join(f.dir, secretKeysFolder), what.PruneCriteria, what.DryRun)
				return err
			})
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

// printResult says what was deleted, even if not all could be.
func (c *pruneCommand) printResult(p *program, result pruneResult) error {
	if c.JSON {
		if result.Runs == nil {
			result.Runs = []engine.PrunedRun{}
		}
		return json.NewEncoder(p.stdout).Encode(result)
	}
	for _, r := range result.Runs {
		fmt.Fprintf(p.stdout, "%s  %s  %-11s  %10s  %s\n", r.ID, r.Ended.Local().Format(time.DateTime), r.State, formatBytes(r.Bytes), r.Photon)
	}
	said := "deleted"
	if c.DryRun {
		said = "would be deleted"
	}
	_, err := fmt.Fprintf(p.stdout, "%s %s, %s\n", plural(len(result.Runs), "run", "runs"), said, formatBytes(result.Bytes))
	return err
}

// handlePrune does it for a process that joined.
func (h *controlServer) handlePrune(_ context.Context, r *controlsocket.Request) {
	var what pruneRequest
	if err := json.Unmarshal(r.Args, &what); err != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "what is to be deleted can't be read"))
		return
	}
	if r.Accept() != nil {
		return
	}
	var result pruneResult
	var err error
	if result.Runs, err = h.engine.Prune(what.PruneCriteria, what.DryRun); err != nil {
		result.Error = "the Beam that owns the data folder could not look at all runs; its log says why"
		if errors.Is(err, engine.ErrDeletionPaused) {
			result.Error = err.Error()
		} else {
			h.logger.Error("pruning", "err", err)
		}
	}
	if err := json.NewEncoder(r).Encode(result); err != nil {
		h.logger.Warn("telling what was pruned", "err", err)
	}
}

// newWarningLogger is the logger of commands that do one thing: it says what is wrong.
func newWarningLogger(p *program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
