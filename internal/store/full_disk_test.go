//go:build linux

package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
)

// mountSmall mounts a file system in memory, which only root may.
func mountSmall(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("beam", dir, "tmpfs", 0, options); err != nil {
		t.Skip("can't mount a small file system:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A disk that is really full refuses appends, keeps all that was acknowledged, and heals when
// there is space.
func TestDiskReallyFull(t *testing.T) {
	dir := mountSmall(t, "size=8m")
	data := filepath.Join(dir, "data")
	s := openStore(t, store.Options{Dir: data, MinFree: -1})
	defer s.Close() // before the file system is unmounted
	filler := filepath.Join(dir, "filler")
	large := runlog.Entry{Kind: "chunk", Data: []byte(`"` + strings.Repeat("x", runlog.MaxEntryData-2) + `"`)}
	startRun(t, s, "r", runlog.Started{Durable: true})
	last := uint64(1)
	fill := func() {
		t.Helper()
		for {
			next, err := s.Append(t.Context(), "r", last, large)
			if err == nil {
				last = next
				continue
			}
			if !errors.Is(err, runlog.ErrDiskFull) {
				t.Fatalf("a full disk is %v", err)
			}
			return
		}
	}
	var err error
	for err == nil { // a checkpoint may make room meanwhile
		fill()
		err = s.Err()
	}
	if !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("on a full disk, the store says %v", err)
	}
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); err == nil {
		t.Error("the disk isn't full")
	}
	fill() // what the log has room for
	before := last
	if err := unix.Mount("beam", dir, "tmpfs", unix.MS_REMOUNT, "size=32m"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		next, err := s.Append(t.Context(), "r", last, large)
		if err != nil || s.Err() != nil {
			t.Fatalf("append %d with space: %v, %v", i, err, s.Err())
		}
		last = next
	}
	if last != before+3 {
		t.Errorf("the last entry is %d, want %d", last, before+3)
	}
	checkWhole(t, s)
}

// A disk without inodes is called full.
func TestDiskWithoutInodes(t *testing.T) {
	dir := mountSmall(t, "size=64m,nr_inodes=40")
	data := filepath.Join(dir, "data")
	s := openStore(t, store.Options{Dir: data, MinFree: -1})
	startRun(t, s, "r", runlog.Started{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"beam.db-wal", "beam.db-shm"} {
		_ = os.Remove(filepath.Join(data, file))
	}
	var fillers []string
	for i := 0; ; i++ {
		filler := filepath.Join(dir, fmt.Sprint("filler", i))
		if err := os.WriteFile(filler, nil, 0o600); err != nil {
			break
		}
		fillers = append(fillers, filler)
	}
	if _, err := store.Open(t.Context(), store.Options{Dir: data, MinFree: -1}); !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("opening without inodes: %v", err)
	}
	for _, filler := range fillers {
		_ = os.Remove(filler)
	}
	s = openStore(t, store.Options{Dir: data, MinFree: -1})
	defer s.Close()
	checkWhole(t, s)
}
