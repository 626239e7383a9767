package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/engine"
	"github.com/photon-beam/beam/internal/store"
)

// A PruneRequest is the argument of [RequestPrune]: which finished runs to delete.
type PruneRequest struct {
	engine.PruneCriteria
	DryRun bool `json:"dryRun,omitempty"` // only report them
}

// A PruneResult is the reply to a [PruneRequest].
type PruneResult struct {
	Runs   []engine.PrunedRun `json:"runs"`  // oldest first
	Bytes  int64              `json:"bytes"` // that the runs and their files took
	DryRun bool               `json:"dryRun"`
	Error  string             `json:"error,omitempty"` // why not all were deleted
}

// Prune deletes finished runs from a folder that no [App] uses. If it returns an error, the runs
// that it returns are deleted nevertheless.
func Prune(ctx context.Context, f *datafolder.Folder, r PruneRequest, logger *slog.Logger) (runs []engine.PrunedRun, err error) {
	err = f.WithStore(ctx, logger, func(s *store.Store) error {
		runs, err = engine.PruneLog(ctx, s, f.Blobs, f.KeyDir(), r.PruneCriteria, r.DryRun)
		return err
	})
	return runs, err
}

// handlePrune deletes finished runs for another process.
func (h *controlServer) handlePrune(_ context.Context, r *controlsocket.Request) {
	var request PruneRequest
	if err := json.Unmarshal(r.Args, &request); err != nil {
		r.Refuse(controlsocket.Refusef(controlsocket.Failed, "it can't read which runs to delete"))
		return
	}
	if r.Accept() != nil {
		return
	}
	var result PruneResult
	var err error
	if result.Runs, err = h.engine.Prune(request.PruneCriteria, request.DryRun); err != nil {
		result.Error = "the Beam that owns the data folder couldn't read all runs; its log says why"
		if errors.Is(err, engine.ErrDeletionPaused) {
			result.Error = err.Error()
		} else {
			h.logger.Error("pruning", "err", err)
		}
	}
	if err := json.NewEncoder(r).Encode(result); err != nil {
		h.logger.Warn("sending the result of pruning", "err", err)
	}
}
