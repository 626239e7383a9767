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
	piece    = 512 // names of a folder that are read at once
	maxDepth = 256 // of the folders that are looked into
)

// A walker looks at all that is below a folder. It holds a piece of the names
// of each folder on the way down, follows no link and opens nothing but
// folders. What can't be looked at is counted and left out; only a stop ends
// the walk.
type walker struct {
	ctx   context.Context
	yield generators.Yield
	found *found

	every time.Duration // that progress is told
	told  time.Time
	// done is how much of the whole has been seen, from 0 to 1. Each folder has
	// a share of it that its entries divide among them.
	done float64
}

// walk looks at all of dir. The error is that the run was stopped meanwhile.
func (w *walker) walk(dir *os.Root) error {
	w.folder(dir, "", 1, 0)
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.done = 1
	w.tell()
	return nil
}

// folder looks at the entries of dir, whose path is at.
func (w *walker) folder(dir *os.Root, at string, share float64, depth int) {
	list, err := dir.Open(".")
	if err != nil {
		w.miss(at, err)
		return
	}
	defer list.Close()
	names, err := list.Readdirnames(piece)
	n := len(names)
	if n < piece { // that is all: no handle need be kept while looking further down
		list.Close()
	} else {
		n += w.rest(dir)
	}
	share /= float64(max(n, 1))
	for len(names) > 0 {
		for _, name := range names {
			if w.ctx.Err() != nil {
				return
			}
			w.entry(dir, at, name, share, depth)
		}
		if err != nil || len(names) < piece {
			break
		}
		names, err = list.Readdirnames(piece)
	}
	if err != nil && err != io.EOF {
		w.miss(at, err)
	}
}

// rest counts the entries of a large folder beyond the first piece.
func (w *walker) rest(dir *os.Root) int {
	list, err := dir.Open(".")
	if err != nil {
		return 0
	}
	defer list.Close()
	for n := 0; ; {
		names, err := list.Readdirnames(piece)
		if n += len(names); err != nil || w.ctx.Err() != nil {
			return max(n-piece, 0)
		}
	}
}

// entry looks at what is called name in dir.
func (w *walker) entry(dir *os.Root, at, name string, share float64, depth int) {
	if time.Since(w.told) >= w.every {
		w.tell()
	}
	done := w.done + share
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		w.miss(join(at, name), err)
	case info.IsDir():
		w.enter(dir, join(at, name), name, share, depth+1)
	case info.Mode().IsRegular():
		w.found.file(at, name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		w.found.links.add(join(at, name))
	default:
		w.found.devices.add(join(at, name))
	}
	w.done = done
}

// enter looks into a folder that is called name in dir.
func (w *walker) enter(dir *os.Root, at, name string, share float64, depth int) {
	w.found.folders++
	if depth > maxDepth {
		w.found.deep.add(at)
		return
	}
	sub, err := dir.OpenRoot(name + onlyFolders)
	if err != nil {
		w.miss(at, err)
		return
	}
	defer sub.Close()
	w.folder(sub, at, share, depth)
}

// miss counts what can't be looked at, but for what has gone away meanwhile.
func (w *walker) miss(at string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.found.unreadable.add(at)
	}
}

// tell tells how far the walk is, in percent.
func (w *walker) tell() {
	w.told = time.Now()
	percent := math.Floor(min(w.done, 1)*1000) / 10
	w.yield(generators.Progress(percent, 100, w.found.soFar()))
}
