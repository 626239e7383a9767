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
	readdirBatch = 512 // names of a folder that are read at once
	maxDepth     = 256 // of the folders that are looked into
)

// A walker looks at all that is below a folder. It holds a piece of the names
// of each folder on the way down, follows no link and opens nothing but
// folders. What can't be looked at is counted and left out; only a stop ends
// the walk.
type walker struct {
	ctx   context.Context
	yield generators.Yield
	scan  *scan

	reportInterval time.Duration // that progress is told
	lastReport     time.Time
	// done is how much of the whole has been seen, from 0 to 1. Each folder has
	// a share of it that its entries divide among them.
	done float64
}

// walk looks at all of dir. The error is that the run was stopped meanwhile.
func (w *walker) walk(dir *os.Root) error {
	w.walkFolder(dir, "", 1, 0)
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.done = 1
	w.reportProgress()
	return nil
}

// walkFolder looks at the entries of dir, whose path is at.
func (w *walker) walkFolder(dir *os.Root, at string, share float64, depth int) {
	list, err := dir.Open(".")
	if err != nil {
		w.recordUnreadable(at, err)
		return
	}
	defer list.Close()
	names, err := list.Readdirnames(readdirBatch)
	n := len(names)
	if n < readdirBatch { // that is all: no handle need be kept while looking further down
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

// countRest counts the entries of a large folder beyond the first piece.
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

// visitEntry looks at what is called name in dir.
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

// enterFolder looks into a folder that is called name in dir.
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

// recordUnreadable counts what can't be looked at, but for what has gone away meanwhile.
func (w *walker) recordUnreadable(at string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.scan.unreadable.add(at)
	}
}

// reportProgress tells how far the walk is, in percent.
func (w *walker) reportProgress() {
	w.lastReport = time.Now()
	percent := math.Floor(min(w.done, 1)*1000) / 10
	w.yield(generators.Progress(percent, 100, w.scan.describeProgress()))
}
