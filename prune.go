package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/joint"
	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/run"
)

// prune is the command that deletes finished runs.
type prune struct {
	OlderThan *span `placeholder:"TIME" help:"Delete the runs that ended longer ago, as in 12h, 7d or 2w."`
	Keep      *int  `placeholder:"N" help:"Keep the N that ended last, and delete the others."`
	MaxSize   *size `placeholder:"SIZE" help:"Delete the oldest until the others take at most so much, with their files, as in 500MB or 2GiB."`
	DryRun    bool  `help:"Only say what would be deleted."`
	JSON      bool  `name:"json" help:"Say it as JSON."`

	located
}

// Help is what --help says beside the flags.
func (*prune) Help() string {
	return "A run is deleted if any of --older-than, --keep and --max-size is against it. Runs that have not ended are never deleted. " +
		"It works while a Beam owns the data folder, through it, and while none does."
}

// Validate is called once the flags are read.
func (c *prune) Validate() error {
	if c.OlderThan == nil && c.Keep == nil && c.MaxSize == nil {
		return errors.New("say which finished runs are to be deleted: --older-than, --keep or --max-size")
	}
	if c.Keep != nil && *c.Keep < 0 {
		return errors.New("--keep must be 0 or more")
	}
	return nil
}

// pruning is what an owner is asked for.
type pruning struct {
	run.Criteria
	DryRun bool `json:"dryRun,omitempty"`
}

// pruned is what came of it.
type pruned struct {
	Runs   []run.Pruned `json:"runs"` // oldest first
	Bytes  int64        `json:"bytes"`
	DryRun bool         `json:"dryRun"`
	Error  string       `json:"error,omitempty"`
}

func (c *prune) pruning() pruning {
	return pruning{run.Criteria{OlderThan: (*time.Duration)(c.OlderThan), Keep: c.Keep, MaxBytes: (*int64)(c.MaxSize)}, c.DryRun}
}

// Run deletes, and says what.
func (c *prune) Run(ctx context.Context, p *program) error {
	what := c.pruning()
	var result pruned
	err := c.through(ctx, wantPrune, what,
		func(conn *joint.Conn) error { return json.NewDecoder(conn).Decode(&result) },
		func(f *folder) error {
			return f.withLog(ctx, p, func(l log.Log) (err error) {
				result.Runs, err = run.PruneLog(ctx, l, f.blobs, filepath.Join(f.dir, keyFolder), what.Criteria, what.DryRun)
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
	return errors.Join(c.tell(p, result), err)
}

// tell says what was deleted, even if not all could be.
func (c *prune) tell(p *program, result pruned) error {
	if c.JSON {
		if result.Runs == nil {
			result.Runs = []run.Pruned{}
		}
		return json.NewEncoder(p.stdout).Encode(result)
	}
	for _, r := range result.Runs {
		fmt.Fprintf(p.stdout, "%s  %s  %-11s  %10s  %s\n", r.ID, r.Ended.Local().Format(time.DateTime), r.State, bytesText(r.Bytes), r.Photon)
	}
	said := "deleted"
	if c.DryRun {
		said = "would be deleted"
	}
	_, err := fmt.Fprintf(p.stdout, "%s %s, %s\n", plural(len(result.Runs), "run", "runs"), said, bytesText(result.Bytes))
	return err
}

// prune does it for a process that joined.
func (h *host) prune(_ context.Context, r *joint.Request) {
	var what pruning
	if err := json.Unmarshal(r.Args, &what); err != nil {
		r.Refuse(joint.Refusef(joint.Failed, "what is to be deleted can't be read"))
		return
	}
	if r.Accept() != nil {
		return
	}
	var result pruned
	var err error
	if result.Runs, err = h.engine.Prune(what.Criteria, what.DryRun); err != nil {
		result.Error = "the Beam that owns the data folder could not look at all runs; its log says why"
		if errors.Is(err, run.ErrHeld) {
			result.Error = err.Error()
		} else {
			h.logger.Error("pruning", "err", err)
		}
	}
	if err := json.NewEncoder(r).Encode(result); err != nil {
		h.logger.Warn("telling what was pruned", "err", err)
	}
}

// quiet is the logger of commands that do one thing: it says what is wrong.
func quiet(p *program) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
