package dev

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"
)

// pollInterval is how often the folder is looked at. Polling needs no limit of watches, and
// works on every file system, also on those of other machines.
const pollInterval = 300 * time.Millisecond

// A version tells whether a file is the one that was seen before.
type version struct {
	modified time.Time
	size     int64
}

// snapshot returns the versions of the files below a folder that a build depends on: Go
// source besides tests, go.mod and go.sum. It leaves out what can't be read, and hidden
// folders.
func snapshot(folder string) map[string]version {
	files := make(map[string]version)
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it may have been removed meanwhile
		}
		switch name := d.Name(); {
		case d.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !isSource(name):
			return nil
		}
		if info, err := d.Info(); err == nil {
			files[path] = version{info.ModTime(), info.Size()}
		}
		return nil
	})
	return files
}

func isSource(name string) bool {
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// waitForChange returns once the folder differs from a snapshot, ctx ends, or stop is closed.
func waitForChange(ctx context.Context, folder string, seen map[string]version, stop <-chan struct{}) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stop:
			return
		case <-tick.C:
			if !maps.Equal(seen, snapshot(folder)) {
				return
			}
		}
	}
}
