package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A file that isn't readable is said to be that, not damaged.
func TestPermissionDenied(t *testing.T) {
	if os.Getuid() == 0 { // who may read everything
		again := exec.Command("/proc/self/exe", "-test.run=^TestPermissionDenied$", "-test.v")
		again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		again.Dir, again.Env = "/", append(os.Environ(), "TMPDIR="+publicDir(t))
		if out, err := again.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestPermissionDenied")) {
			t.Errorf("as somebody else: %v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	startRun(t, s, "r", runlog.Started{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range sqlite.FileNames() {
		path := filepath.Join(dir, file)
		if err := os.Chmod(path, 0); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), store.Options{Dir: dir}); !errors.Is(err, fs.ErrPermission) || errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s can't be read: %v", file, err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// publicDir returns a folder for everybody, below folders that everybody can enter.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "beam-public-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A newer version's store is refused, and not changed.
func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	if err := store.SetFormat(s, 99); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); !errors.Is(err, store.ErrNewerFormat) {
		t.Errorf("a newer store: %v", err)
	}
}

// A full disk refuses appends but what needs little, and heals.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	startRun(t, s, "r", runlog.Started{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	full := openStore(t, store.Options{Dir: dir, MinFree: 1 << 60})
	if _, err := full.Append(t.Context(), "r", 1, runlog.NewEntry("status", 1)); !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("appending: %v", err)
	}
	if err := full.Err(); !errors.Is(err, runlog.ErrDiskFull) {
		t.Errorf("Err: %v", err)
	}
}

// A transaction that fails loses and doubles nothing, and the next ones succeed.
func TestFailedCommit(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	startRun(t, s, "r", runlog.Started{Durable: true})
	for i, fail := range []string{"INSERT INTO entries", "UPDATE meta", "COMMIT", "BEGIN"} {
		store.FailNext(s, fail)
		_, err := s.Append(t.Context(), "r", uint64(i)+1, runlog.NewEntry("status", i))
		if err == nil || s.Err() == nil {
			t.Errorf("%s fails: %v, %v", fail, err, s.Err())
		}
		if last, err := s.Append(t.Context(), "r", uint64(i)+1, runlog.NewEntry("status", i)); err != nil || last != uint64(i)+2 || s.Err() != nil {
			t.Errorf("after %s failed: %d, %v, %v", fail, last, err, s.Err())
		}
	}
	compareWithFold(t, s, "r")
	checkWhole(t, s)
}

// An append whose commit seemed to fail is known to be there.
func TestUnknownCommit(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	startRun(t, s, "r", runlog.Started{Durable: true})
	store.FailAfterNext(s, "COMMIT")
	if last, err := s.Append(t.Context(), "r", 1, runlog.NewEntry("status", 1)); err != nil || last != 2 {
		t.Errorf("the append: %d, %v", last, err)
	}
	checkWhole(t, s)
}

func TestClose(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	startRun(t, s, "r", runlog.Started{})
	ended := make(chan error, 1)
	go func() {
		var end error
		for _, err := range s.Follow(t.Context(), "r", 0) {
			end = err
		}
		ended <- end
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, store.ErrClosed) {
		t.Errorf("a follower ends with %v", err)
	}
	if _, err := s.Append(t.Context(), "r", 1, runlog.NewEntry("status", 1)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("appending to a closed store: %v", err)
	}
	if err := s.Err(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Err of a closed store: %v", err)
	}
}

// Deleting many runs gives way to appends, and the file shrinks.
func TestFileShrinks(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir, Sync: store.SyncInterval})
	large := runlog.Entry{Kind: "chunk", Data: []byte(`"` + strings.Repeat("x", 20_000) + `"`)}
	var runs []string
	for i := range 400 {
		runs = append(runs, fmt.Sprint(i))
		startRun(t, s, runs[i], runlog.Started{}, large)
	}
	size := func() int64 {
		if err := store.Checkpoint(s); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "beam.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	for _, run := range runs {
		if err := s.Delete(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	checkWhole(t, s)
	if !programtest.Poll(func() bool { return size() < before/3 }) {
		t.Errorf("the file had %d bytes, and has %d", before, size())
	}
	checkWhole(t, s)
}
