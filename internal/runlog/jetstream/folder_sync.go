package jetstream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/photon-beam/beam/internal/atomicfile"
)

// folderSyncer makes new block files durable. A server with SyncAlways syncs
// each block before it acknowledges a write to it, but never the folder that
// names the block: a power failure would lose a block whose name isn't on the
// disk.
//
// The folder's modification time shows whether it has changed since it was last
// synced. A folderSyncer must not be used by several goroutines at once.
type folderSyncer struct {
	dir           string    // empty if appends need not reach the disk
	syncedModTime time.Time // the folder's modification time when it was last synced
}

// modTimeResolution is the coarsest clock that file systems use for modification
// times. A folder that changed within it may change again without a new time.
const modTimeResolution = 2 * time.Second

func newFolderSyncer(o Options) (*folderSyncer, error) {
	if !o.SyncAlways {
		return &folderSyncer{}, nil
	}
	s := &folderSyncer{dir: messagesDir(o.Dir)}
	return s, s.sync()
}

// sync syncs the folder if it has changed.
func (s *folderSyncer) sync() error {
	if s.dir == "" {
		return nil
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return err
	}
	changed := info.ModTime()
	if changed.Equal(s.syncedModTime) {
		return nil
	}
	now := time.Now()
	if err := atomicfile.SyncDir(s.dir); err != nil {
		return err
	}
	if now.Sub(changed) > modTimeResolution {
		s.syncedModTime = changed
	}
	return nil
}

// syncBlocks syncs the blocks numbered from and higher, and returns the highest
// number.
func syncBlocks(dir string, from uint32) (last uint32, err error) {
	paths, err := filepath.Glob(filepath.Join(messagesDir(dir), "*.blk"))
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		n := blockNumber(path)
		if last = max(last, n); n < from {
			continue
		}
		if err := syncFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // the server removes empty blocks
			return 0, err
		}
	}
	return last, atomicfile.SyncDir(messagesDir(dir))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncFolders syncs dir and all folders below it, which the server made for a
// new stream.
func syncFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return atomicfile.SyncDir(path)
	})
}

// removeTempFiles removes files that a killed process left incomplete, both
// ours and the server's.
func removeTempFiles(dir string) error {
	err := atomicfile.Sweep(dir)
	for _, folder := range []string{messagesDir(dir), filepath.Dir(messagesDir(dir))} {
		entries, readErr := os.ReadDir(folder)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, readErr)
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".tmp") {
				err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
			}
		}
	}
	return err
}
