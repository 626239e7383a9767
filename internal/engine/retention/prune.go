package retention

import (
	"time"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runstate"
)

// Criteria select the finished runs to delete: those that match any of them.
// A nil criterion matches none.
type Criteria struct {
	OlderThan *time.Duration `json:"olderThan,omitempty"` // since their end
	Keep      *int           `json:"keep,omitempty"`      // how many of the newest to keep
	MaxBytes  *int64         `json:"maxBytes,omitempty"`  // total size of the runs to keep
}

// A Run is a finished run that was deleted or, in a dry run, would be.
type Run struct {
	ID     string         `json:"id"`
	Photon string         `json:"photon"`
	State  runstate.State `json:"state"`
	Ended  time.Time      `json:"ended"`
	Bytes  int64          `json:"bytes"` // approximate size of its log and files
}

// Prune deletes finished runs, with their logs and files, and returns them. If
// dryRun is set, it only returns them. It keeps unfinished runs, runs that are
// being read, and runs with a promised retention. The error is [ErrPaused], the log's, or
// the file system's.
func (k *Keeper) Prune(c Criteria, dryRun bool) ([]Run, error) {
	now := time.Now()
	var count int
	var bytes int64
	return k.remove(func(row *runlist.Row) bool {
		promised := row.Start.RetainFor > 0 || k.promises.get(row.ID) > 0
		if promised && now.Before(k.Until(row.ID, &row.Run)) || k.InUse != nil && k.InUse(row.ID) {
			return false
		}
		count++
		if c.MaxBytes != nil {
			bytes += k.size(row)
		}
		old := c.OlderThan != nil && now.Sub(row.EndedAt) > *c.OlderThan
		return old || c.Keep != nil && count > *c.Keep || c.MaxBytes != nil && bytes > *c.MaxBytes
	}, dryRun)
}
