package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/store"
)

// backupStallTimeout is how long a process may read nothing of a backup that it
// requested.
const backupStallTimeout = time.Minute

// Backup writes a backup of a folder that no [App] uses.
func Backup(ctx context.Context, f *datafolder.Folder, w io.Writer, logger *slog.Logger) error {
	s, err := f.OpenStore(ctx, store.SyncInterval, logger)
	if err != nil {
		return err
	}
	return errors.Join(f.WriteBackup(ctx, w, s, Version()), s.Close())
}

// handleBackup writes a backup to another process. No run is deleted meanwhile.
func (h *controlServer) handleBackup(ctx context.Context, r *controlsocket.Request) {
	resume := h.engine.PauseDeletion()
	defer resume()
	if r.Accept() != nil {
		return
	}
	w := &stallWriter{request: r}
	err := h.folder.WriteBackup(ctx, w, h.store, Version())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		h.logger.Info("Beam stopped before a backup was whole", "err", err)
	case errors.Is(w.err, os.ErrDeadlineExceeded):
		h.logger.Warn("the process that requested a backup didn't read it", "err", w.err)
	case w.err != nil:
		h.logger.Info("the process that requested a backup left before the backup was whole", "err", w.err)
	default:
		h.logger.Error("writing a backup", "err", err)
	}
}

// handleUnfinished writes the unfinished runs to another process.
func (h *controlServer) handleUnfinished(ctx context.Context, r *controlsocket.Request) {
	if r.Accept() != nil {
		return
	}
	w := &stallWriter{request: r}
	if err := runs.WriteUnfinishedRuns(ctx, w, h.engine, true); err != nil && w.err == nil {
		h.logger.Error("writing the unfinished runs", "err", err)
	}
}

// A stallWriter writes to the process that sent the request, and fails if that
// process reads nothing for backupStallTimeout.
type stallWriter struct {
	request *controlsocket.Request
	err     error // of the last write; nil if the process has all that was written
}

func (w *stallWriter) Write(p []byte) (n int, err error) {
	if w.err = w.request.SetWriteDeadline(time.Now().Add(backupStallTimeout)); w.err == nil {
		n, w.err = w.request.Write(p)
	}
	return n, w.err
}
