package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// A store that takes the place of an earlier version's log, or of a damaged store, is written
// beside it. Only when it is whole is its folder renamed to replacementFolder; whoever finds
// that moves the files into place.
const (
	newStoreFolder    = "migrating"
	replacementFolder = "replacement"
	// asideFile, in replacementFolder, names the folder that the files in the place of the new
	// ones are moved to first. It is gone once they are.
	asideFile = "aside"
)

func (f *DataFolder) newStoreDir() string    { return filepath.Join(f.dir, newStoreFolder) }
func (f *DataFolder) replacementDir() string { return filepath.Join(f.dir, replacementFolder) }

// buildStore writes a new store in newStoreFolder, which fill fills.
func (f *DataFolder) buildStore(ctx context.Context, logger *slog.Logger, fill func(*store.Store) error) error {
	if err := os.RemoveAll(f.newStoreDir()); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: f.newStoreDir(), Sync: store.SyncInterval, Blobs: f.blobs, Logger: logger})
	if err != nil {
		return err
	}
	return errors.Join(fill(s), s.Close())
}

// installStore moves the new store into place. If aside isn't empty, it moves what is there to
// the folder of that name.
func (f *DataFolder) installStore(aside string) error {
	if aside != "" {
		if err := atomicfile.Write(filepath.Join(f.newStoreDir(), asideFile), []byte(aside)); err != nil {
			return err
		}
	}
	if err := errors.Join(atomicfile.SyncDir(f.newStoreDir()), os.Rename(f.newStoreDir(), f.replacementDir())); err != nil {
		return err
	}
	f.reach("the new store is whole")
	return f.finishInstall()
}

// finishInstall does what is left of installStore, if a process has begun it.
func (f *DataFolder) finishInstall() error {
	from := f.replacementDir()
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return folderError(err)
	}
	if err := atomicfile.SyncDir(f.dir); err != nil {
		return err
	}
	aside, err := os.ReadFile(filepath.Join(from, asideFile))
	if err == nil {
		to := filepath.Join(f.dir, filepath.Base(string(aside)))
		err = errors.Join(f.moveFiles(f.dir, to), os.Remove(filepath.Join(from, asideFile)), atomicfile.SyncDir(from))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.moveFiles(from, f.dir); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// moveFiles moves the files of a store that are left.
func (f *DataFolder) moveFiles(from, to string) error {
	if err := atomicfile.MakeDir(to); err != nil {
		return err
	}
	for _, name := range store.Files() {
		if err := moveFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
		f.reach("moved " + name)
	}
	return errors.Join(atomicfile.SyncDir(to), atomicfile.SyncDir(from))
}

// moveFile renames a file or folder, if it exists.
func moveFile(from, to string) error {
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// reach tells tests how far a migration or a repair has come.
func (f *DataFolder) reach(step string) {
	if f.reached != nil {
		f.reached(step)
	}
}

// A progress logs from time to time how much is done.
type progress struct {
	logger      *slog.Logger
	done, total int
	told        time.Time
}

func newProgress(logger *slog.Logger, total int) *progress {
	return &progress{logger: logger, total: total, told: time.Now()}
}

func (p *progress) add() {
	if p.done++; time.Since(p.told) > 2*time.Second {
		p.told = time.Now()
		p.logger.Info("copying the runs", "done", fmt.Sprintf("%d %%", min(99, 100*p.done/max(1, p.total))))
	}
}

// appendOld appends what was done before. Runs of earlier versions may have the same idempotency
// key: the first is found by it.
func appendOld(ctx context.Context, s *store.Store, a runlog.AppendedEntries) error {
	after := a.Entries[0].Seq - 1
	_, err := s.Append(ctx, a.Run, after, a.Entries...)
	var duplicate *store.DuplicateStartError
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
