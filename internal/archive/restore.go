package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/log"
)

// Restore reads an archive back to parts that hold nothing. With an error, they
// hold something that must not be used.
func Restore(ctx context.Context, r io.Reader, p Parts) (Summary, error) {
	return read(ctx, r, &restoring{Parts: p, ctx: ctx})
}

type restoring struct {
	Parts
	ctx context.Context
}

func (r *restoring) session(raw []byte) error { return write(r.SessionKeys, raw) }

func (r *restoring) entries(run string, after uint64, entries []log.Entry) error {
	_, err := r.Log.Append(r.ctx, run, after, entries...)
	return err
}

func (r *restoring) key(run string, raw []byte) error {
	if err := os.MkdirAll(r.Keys, 0o700); err != nil {
		return err
	}
	return write(filepath.Join(r.Keys, run), raw)
}

func (r *restoring) blob(run string, content io.Reader) error {
	if _, _, err := r.Blobs.Put(r.ctx, run, content); err != nil {
		return fmt.Errorf("storing a file: %w", err)
	}
	return nil
}

// write makes a file that is not there yet.
func write(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}
