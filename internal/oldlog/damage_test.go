package oldlog_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

const blocks = "jetstream/$G/streams/runs/msgs"

// TestDamage checks that missing and shortened files are refused with a text that names
// them, and what can be read then.
func TestDamage(t *testing.T) {
	cut := func(name string, size int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
				t.Fatal(err)
			}
		}
	}
	gone := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		damage  func(t *testing.T, dir string)
		want    string
		appends int // that can be read, of 105
	}{
		"first block gone":  {gone(blocks + "/1.blk"), "1.blk is missing", 74},
		"last block gone":   {gone(blocks + "/5.blk"), "5.blk is missing", 89},
		"block cut":         {cut(blocks+"/2.blk", 1_000_000), "2.blk can't be read", 73},
		"block cut at end":  {cut(blocks+"/4.blk", 0), "4.blk has 0 bytes", 91},
		"no blocks":         {gone("jetstream"), "1.blk is missing", 0},
		"no mark":           {gone("high-water-mark"), `has no file "high-water-mark"`, 105},
		"empty mark":        {cut("high-water-mark", 0), "high-water-mark can't be read at byte 0", 105},
		"no server's state": {gone(blocks + "/index.db"), "10 messages that had been deleted", 115},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpack(t, "large")
			c.damage(t, dir)
			before := programtest.FileDigests(t, dir)
			f, err := oldlog.Open(dir)
			if f != nil || !errors.Is(err, oldlog.ErrCorrupt) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "can be read") {
				t.Errorf("got %v", err)
			}
			f, err = oldlog.OpenDamaged(dir)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(readAll(t, f)); n != c.appends || f.Count() != n || f.Report().Runs != n {
				t.Errorf("%d appends, want %d; %+v", n, c.appends, f.Report())
			}
			if after := programtest.FileDigests(t, dir); !maps.Equal(before, after) {
				t.Error("the folder has changed")
			}
		})
	}
}

// TestLostEntriesAreNamed loses one append after another from the middle of a block, and
// checks which runs are reported.
func TestLostEntriesAreNamed(t *testing.T) {
	dir := unpack(t, "format1") // no mark tells how many there must be
	want := byRun(t, readAll(t, mustOpen(t, dir)))
	path := filepath.Join(dir, blocks, "1.blk")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for at, size := 0, 0; at < len(raw); at += size {
		size = int(raw[at]) | int(raw[at+1])<<8
		write(t, path, slices.Concat(raw[:at], raw[at+size:]))
		f, err := oldlog.OpenDamaged(dir)
		if err != nil {
			t.Fatal(err)
		}
		r := f.Report()
		missing := 0
		for run, all := range want {
			got := byRun(t, readAll(t, f))[run]
			if !slices.Equal(got, all[:min(len(got), len(all))]) {
				continue // a deleted run that is back
			}
			if len(got) < len(all)-1 {
				missing++ // more than the last one
			}
		}
		if n := len(r.Truncated) + len(r.Headless); n < missing || n > 0 && r.Damage == nil {
			t.Errorf("without byte %d to %d, %d runs are cut: %+v", at, at+size, missing, r)
		} else {
			named += n
		}
	}
	if named < 10 {
		t.Errorf("%d are named", named)
	}
}

// TestOtherFiles checks what isn't damage.
func TestOtherFiles(t *testing.T) {
	dir := unpack(t, "stopped")
	write(t, filepath.Join(dir, blocks, "1.blk.tmp"), []byte("torn"))
	write(t, filepath.Join(dir, blocks, "1 (copy).blk"), []byte("copied"))
	mustOpen(t, dir)
	if err := os.Rename(dir, dir+".recovered"); err != nil { // killed during --accept-loss
		t.Fatal(err)
	}
	wantContents(t, readAll(t, mustOpen(t, dir)), expected(t, "stopped"))

	path := filepath.Join(dir, blocks)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(path, 0o700)
	if _, err := oldlog.Open(dir); os.Getuid() != 0 && (!errors.Is(err, fs.ErrPermission) || errors.Is(err, oldlog.ErrCorrupt)) {
		t.Errorf("a folder that can't be read: %v", err)
	}
}

// TestNoLog tells a folder without a log from one whose log is damaged.
func TestNoLog(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "log")} {
		if _, err := oldlog.Open(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	write(t, filepath.Join(dir, "format"), []byte("2 unborn\n"))
	if f := mustOpen(t, dir); f.Count() != 0 {
		t.Errorf("%d appends", f.Count())
	}
	dir = unpack(t, "stopped")
	for content, want := range map[string]error{"3\n": oldlog.ErrNewerFormat, "3 4\n": oldlog.ErrNewerFormat, "x": oldlog.ErrCorrupt, "": oldlog.ErrCorrupt} {
		write(t, filepath.Join(dir, "format"), []byte(content))
		if _, err := oldlog.Open(dir); !errors.Is(err, want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "format")); err != nil {
		t.Fatal(err)
	}
	if _, err := oldlog.Open(dir); !errors.Is(err, oldlog.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a format: %v", err)
	}
}

// TestRaiseFormat checks that the format is raised and restored as often as one likes,
// and that a raised folder is read.
func TestRaiseFormat(t *testing.T) {
	for _, name := range []string{"stopped", "format1"} {
		dir := unpack(t, name)
		before := programtest.FileDigests(t, dir)
		for range 2 {
			write(t, filepath.Join(dir, "format.partial-7"), []byte("3")) // killed while it was written
			if err := oldlog.RaiseFormat(dir); err != nil {
				t.Fatal(err)
			}
			if raw, _ := os.ReadFile(filepath.Join(dir, "format")); !strings.HasPrefix(string(raw), "3 ") {
				t.Errorf("the format is %q", raw)
			}
			wantContents(t, readAll(t, mustOpen(t, dir)), expected(t, name))
		}
		for range 2 {
			if err := oldlog.RestoreFormat(dir); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(before, programtest.FileDigests(t, dir)) {
				t.Error("the folder isn't what it was")
			}
		}
	}
}
