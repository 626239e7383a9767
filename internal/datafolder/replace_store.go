package datafolder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/photon-beam/beam/internal/atomicfile"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
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

// buildStore writes a new store in newStoreFolder, which fill fills.
func (f *lockedFolder) buildStore(ctx context.Context, logger *slog.Logger, fill func(*store.Store) error) error {
	dir := f.path(newStoreFolder)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: dir, Sync: store.SyncInterval, Blobs: f.Blobs, Logger: logger})
	if err != nil {
		return err
	}
	return errors.Join(fill(s), s.Close())
}

// installStore moves the new store into place. If aside isn't empty, it moves what is there to
// the folder of that name.
func (f *lockedFolder) installStore(aside string) error {
	if aside != "" {
		if err := atomicfile.Write(f.path(newStoreFolder, asideFile), []byte(aside)); err != nil {
			return err
		}
	}
	if err := errors.Join(atomicfile.SyncDir(f.path(newStoreFolder)), os.Rename(f.path(newStoreFolder), f.path(replacementFolder))); err != nil {
		return err
	}
	f.reach("the new store is whole")
	return f.finishInstall()
}

// finishChanges does what killed processes have left of a migration, an undo, or a repair.
func (f *lockedFolder) finishChanges() error { return errors.Join(f.finishInstall(), f.finishUndo()) }

// finishInstall does what is left of installStore, if a process has begun it.
func (f *lockedFolder) finishInstall() error {
	from := f.path(replacementFolder)
	if found, err := exists(from); err != nil {
		return folderError(err)
	} else if !found {
		return nil
	}
	if err := atomicfile.SyncDir(f.Dir); err != nil {
		return err
	}
	aside, err := os.ReadFile(filepath.Join(from, asideFile))
	if err == nil {
		to := f.path(filepath.Base(string(aside)))
		err = errors.Join(f.moveFiles(f.Dir, to), os.Remove(filepath.Join(from, asideFile)), atomicfile.SyncDir(from))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.moveFiles(from, f.Dir); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// moveFiles moves the files of a store that are left.
func (f *lockedFolder) moveFiles(from, to string) error {
	if err := atomicfile.MakeDir(to); err != nil {
		return err
	}
	for _, name := range sqlite.FileNames() {
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
