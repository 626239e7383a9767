package dev

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"
)

// pollInterval is how often files are looked at. Polling needs no limit of watches, and
// works on every file system, also on those of other machines.
const pollInterval = 200 * time.Millisecond

// A version tells whether a file is the one that was seen before.
type version struct {
	modified time.Time
	size     int64
}

// A watcher watches what a build of the package in a folder depends on: the Go files below
// the folder and, once it has asked the go command, those of all packages of local modules,
// what they embed, and the files of modules and workspaces.
type watcher struct {
	folder  string
	sources sources
}

// A state is what a watcher saw at a time.
type state struct {
	files map[string]version
	began time.Time
}

// look returns what there is now.
func (w *watcher) look() state {
	s := state{make(map[string]version), time.Now()}
	s.addTree(w.folder, isSource)
	for _, folder := range w.sources.folders {
		s.addFolder(folder)
	}
	for _, e := range w.sources.embeds {
		s.addEmbedded(e)
	}
	for _, file := range w.sources.files {
		s.addFile(file)
	}
	return s
}

// waitForChange returns once something differs from what was seen before the build, ctx
// ends, or stop is closed. Meanwhile, it learns what else to watch; failed means that the
// source couldn't be built, so that the go command may not find all of it.
func (w *watcher) waitForChange(ctx context.Context, seen state, failed bool, stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listed := make(chan sources, 1)
	go func() {
		if s, err := listSources(ctx, w.folder); err == nil {
			listed <- s
		}
	}()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		var found *sources
		select {
		case <-ctx.Done():
			return
		case <-stop:
			return
		case s := <-listed:
			found = &s
		case <-tick.C:
		}
		if !maps.Equal(seen.files, w.look().files) {
			return
		}
		if found != nil && w.learn(*found, failed, &seen) {
			return
		}
	}
}

// learn watches what the go command has found, and reports whether some of it has changed
// since the build began.
func (w *watcher) learn(found sources, failed bool, seen *state) (changed bool) {
	if failed {
		found.add(w.sources)
	}
	w.sources = found
	now := w.look()
	for file, v := range now.files {
		if _, known := seen.files[file]; !known && v.modified.After(seen.began) {
			return true
		}
	}
	seen.files = now.files
	return false
}

// addTree adds the files below a folder whose names are wanted. It leaves out what can't be
// read, and hidden folders.
func (s *state) addTree(folder string, wanted func(name string) bool) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // it may have been removed meanwhile
		case d.IsDir() && path != folder && isSkipped(d.Name()):
			return fs.SkipDir
		case !d.IsDir() && wanted(d.Name()):
			s.addEntry(path, d)
		}
		return nil
	})
}

func (s *state) addEntry(path string, d fs.DirEntry) {
	if info, err := d.Info(); err == nil {
		s.files[path] = version{info.ModTime(), info.Size()}
	}
}

func isSkipped(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "node_modules" || folder == "testdata"
}

func isSource(name string) bool {
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}
