package backup

import (
	"context"
	"fmt"
	"io"

	"github.com/photon-beam/beam/internal/runlog"
)

// Restore reads a backup into parts that are empty. If it fails, the parts must not
// be used.
func Restore(ctx context.Context, r io.Reader, p Parts) (Summary, error) {
	return readBackup(ctx, r, &restorer{Parts: p, ctx: ctx})
}

type restorer struct {
	Parts
	ctx context.Context
}

func (r *restorer) putSessionKeys(raw []byte) error { return r.SessionKeys.Import(r.ctx, raw) }

func (r *restorer) putEntries(run string, after uint64, entries []runlog.Entry) error {
	_, err := r.Log.Append(r.ctx, run, after, entries...)
	return err
}

func (r *restorer) putKey(run string, raw []byte) error { return r.Keys.Import(run, raw) }

func (r *restorer) putBlob(run string, content io.Reader) error {
	if _, _, err := r.Blobs.Put(r.ctx, run, content); err != nil {
		return fmt.Errorf("storing a file: %w", err)
	}
	return r.Blobs.Trim(0) // its copy, if it is elsewhere
}
