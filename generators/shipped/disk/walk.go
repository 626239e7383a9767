package disk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/photon-beam/beam/generators"
)

const (
	readdirBatch = 512 // names that are read from a folder at once
	maxDepth     = 256 // of nested folders
)

// A walker walks a folder tree. It keeps one batch of names in memory for each folder
// on the current path, follows no links and opens only folders. It counts and skips
// what it can't read.
type walker struct {
	ctx   context.Context
	yield generators.Yield
	scan  *scan

	reportInterval time.Duration // minimum time between two progress events
	lastReport     time.Time
	// done is the progress, from 0 to 1. Each entry of a folder has an equal share of
	// the folder's own share.
	done float64
}

// walk walks dir. It returns an error only if the run was stopped.
func (w *walker) walk(dir *os.Root) error {
	w.walkFolder(dir, "", 1, 0)
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.done = 1
	w.reportProgress()
	return nil
}

// walkFolder visits the entries of dir, whose path is at. share is the folder's share
// of the progress.
func (w *walker) walkFolder(dir *os.Root, at string, share float64, depth int) {
	list, err := dir.Open(".")
	if err != nil {
		w.recordUnreadable(at, err)
		return
	}
	defer list.Close()
	names, err := list.Readdirnames(readdirBatch)
	n := len(names)
	if n < readdirBatch { // these are all: free the handle before descending
		list.Close()
	} else {
		n += w.countRest(dir)
	}
	share /= float64(max(n, 1))
	for len(names) > 0 {
		for _, name := range names {
			if w.ctx.Err() != nil {
				return
			}
			w.visitEntry(dir, at, name, share, depth)
		}
		if err != nil || len(names) < readdirBatch {
			break
		}
		names, err = list.Readdirnames(readdirBatch)
	}
	if err != nil && err != io.EOF {
		w.recordUnreadable(at, err)
	}
}

// countRest returns the number of a folder's entries beyond the first batch.
func (w *walker) countRest(dir *os.Root) int {
	list, err := dir.Open(".")
	if err != nil {
		return 0
	}
	defer list.Close()
	for n := 0; ; {
		names, err := list.Readdirnames(readdirBatch)
		if n += len(names); err != nil || w.ctx.Err() != nil {
			return max(n-readdirBatch, 0)
		}
	}
}

// visitEntry visits the entry called name in dir.
func (w *walker) visitEntry(dir *os.Root, at, name string, share float64, depth int) {
	if time.Since(w.lastReport) >= w.reportInterval {
		w.reportProgress()
	}
	done := w.done + share
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		w.recordUnreadable(joinPath(at, name), err)
	case info.IsDir():
		w.enterFolder(dir, joinPath(at, name), name, share, depth+1)
	case info.Mode().IsRegular():
		w.scan.addFile(at, name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		w.scan.links.add(joinPath(at, name))
	default:
		w.scan.devices.add(joinPath(at, name))
	}
	w.done = done
}

// enterFolder walks the folder called name in dir. Its path is at.
func (w *walker) enterFolder(dir *os.Root, at, name string, share float64, depth int) {
	w.scan.folders++
	if depth > maxDepth {
		w.scan.tooDeep.add(at)
		return
	}
	sub, err := dir.OpenRoot(name + directorySuffix)
	if err != nil {
		w.recordUnreadable(at, err)
		return
	}
	defer sub.Close()
	w.walkFolder(sub, at, share, depth)
}

// recordUnreadable counts a file or folder that can't be read, unless it has been
// deleted in the meantime.
func (w *walker) recordUnreadable(at string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.scan.unreadable.add(at)
	}
}

// reportProgress yields the progress in percent.
func (w *walker) reportProgress() {
	w.lastReport = time.Now()
	percent := math.Floor(min(w.done, 1)*1000) / 10
	w.yield(generators.Progress(percent, 100, w.scan.describeProgress()))
}
