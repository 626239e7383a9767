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

// blocks has new blocks last. An engine that syncs always syncs each block
// before it acknowledges what it wrote there, but never the folder that names
// the block: without its name, a power failure loses all of it.
//
// The folder's time of change says whether it names other files than when it was
// synced. It is not used by several goroutines.
type blocks struct {
	dir    string    // "" if appends need not reach the disk
	synced time.Time // when the folder had changed last as it was synced
}

// A file system may note a change with a clock that stands still for so long: a
// folder that changed so lately may change again and not show it.
const coarsest = 2 * time.Second

func newBlocks(o Options) (*blocks, error) {
	if !o.SyncAlways {
		return &blocks{}, nil
	}
	b := &blocks{dir: messagesDir(o.Dir)}
	return b, b.land()
}

// land returns when the folder's names have reached the disk.
func (b *blocks) land() error {
	if b.dir == "" {
		return nil
	}
	info, err := os.Stat(b.dir)
	if err != nil {
		return err
	}
	changed := info.ModTime()
	if changed.Equal(b.synced) {
		return nil
	}
	now := time.Now()
	if err := atomicfile.SyncDir(b.dir); err != nil {
		return err
	}
	if now.Sub(changed) > coarsest {
		b.synced = changed
	}
	return nil
}

// syncFolders has the folders last that the engine made for a new stream.
func syncFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return atomicfile.SyncDir(path)
	})
}

// sweep removes files that were not written to the end when the process was
// killed: ours, and the engine's.
func sweep(dir string) error {
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
