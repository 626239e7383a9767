package datafolder

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// A source has the appends of earlier runs, in an order in which they can be repeated.
type source interface {
	Scan(ctx context.Context) iter.Seq2[runlog.AppendedEntries, error]
	Count() int // how many Scan yields
}

var (
	_ source = (*oldlog.Folder)(nil)
	_ source = (*store.Salvage)(nil)
)

// copyRuns copies appends to a store. choose returns how many of an append's entries are copied.
func (f *lockedFolder) copyRuns(ctx context.Context, s *store.Store, from source, logger *slog.Logger, choose func(runlog.AppendedEntries) int) error {
	progress, done, total := f.Progress, 0, from.Count()
	if progress == nil {
		progress = logProgress(logger)
	}
	defer func() { progress(total, total) }()
	for a, err := range from.Scan(ctx) {
		if err != nil {
			return err
		}
		progress(done, total)
		done++
		if a.Entries = a.Entries[:choose(a)]; len(a.Entries) == 0 {
			continue
		}
		if err := appendOld(ctx, s, a); err != nil {
			return fmt.Errorf("copying run %s: %w", a.Run, err)
		}
	}
	return nil
}

// logProgress returns a function that logs from time to time how much is done.
func logProgress(logger *slog.Logger) Progress {
	told := time.Now()
	return func(done, total int) {
		if time.Since(told) > 2*time.Second && done < total {
			told = time.Now()
			logger.Info("copying the runs", "done", fmt.Sprintf("%d %%", 100*done/total))
		}
	}
}

// appendOld appends what was done before. Runs of earlier versions may have the same idempotency
// key: the first is found by it.
func appendOld(ctx context.Context, s *store.Store, a runlog.AppendedEntries) error {
	after := a.Entries[0].Seq - 1
	_, err := s.Append(ctx, a.Run, after, a.Entries...)
	var duplicate *runlog.DuplicateStartError
	if !errors.As(err, &duplicate) {
		return err
	}
	started, err := runlog.Decode[runlog.Started](a.Entries[0])
	if err != nil {
		return err
	}
	started.IdempotencyKey = ""
	first := runlog.NewEntry(runlog.KindStarted, started)
	first.Time = a.Entries[0].Time
	_, err = s.Append(ctx, a.Run, after, append([]runlog.Entry{first}, a.Entries[1:]...)...)
	return err
}
