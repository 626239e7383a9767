package oldlog_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/oldlog"
	"github.com/photon-beam/beam/internal/runlog"
)

// archives are folders that earlier versions left, each with a file NAME.json in
// testdata that says what is in them. They never change.
var archives = map[string]string{
	"stopped":            "testdata/stopped.tar.gz", // runs deleted and started again, ids of all kinds
	"killed":             "testdata/killed.tar.gz",  // the same, with appends after the mark
	"large":              "testdata/large.tar.gz",   // several blocks, with deleted messages that have no tombstones
	"format1":            "testdata/format1.tar.gz",
	"durability-stopped": "../systemtest/durability/testdata/c2c56c6/stopped.tar.gz",
	"durability-killed":  "../systemtest/durability/testdata/c2c56c6/killed.tar.gz",
}

// A contentsOf is what a log holds: of each run, in the order in which they started, the
// number of entries and the SHA-256 of its appends as JSON.
type contentsOf struct {
	Appends int
	Runs    []archivedRun
}

type archivedRun struct {
	ID      string
	Entries int
	SHA256  string
}

func TestArchives(t *testing.T) {
	for name := range archives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, want := unpack(t, name), expected(t, name)
			f := mustOpen(t, dir)
			wantContents(t, readAll(t, f), want)
			if f.Count() != want.Appends || f.Report().Runs != len(want.Runs) || f.Report().TornBytes != 0 {
				t.Errorf("count %d, report %+v", f.Count(), f.Report())
			}
		})
	}
}

func expected(t testing.TB, name string) (c contentsOf) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantContents(t testing.TB, all []string, want contentsOf) {
	t.Helper()
	got := contents(t, all)
	if got.Appends != want.Appends || !slices.Equal(got.Runs, want.Runs) {
		t.Errorf("it has %+v, want %+v", got, want)
	}
}

func contents(t testing.TB, all []string) contentsOf {
	t.Helper()
	c := contentsOf{Appends: len(all)}
	appends := make(map[string]string)
	for _, text := range all {
		var a runlog.AppendedEntries
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		if appends[a.Run] == "" {
			c.Runs = append(c.Runs, archivedRun{ID: a.Run})
		}
		appends[a.Run] += text + "\n"
		for i := range c.Runs {
			if c.Runs[i].ID == a.Run {
				c.Runs[i].Entries += len(a.Entries)
				c.Runs[i].SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(appends[a.Run])))
			}
		}
	}
	return c
}

// readAll reads all appends, each as one line of JSON.
func readAll(t testing.TB, s *oldlog.Folder) (all []string) {
	t.Helper()
	for a, err := range s.Scan(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Entries {
			a.Entries[i].Time = a.Entries[i].Time.UTC()
		}
		raw, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw))
	}
	return all
}

func mustOpen(t testing.TB, dir string) *oldlog.Folder {
	t.Helper()
	f, err := oldlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// unpack unpacks an archive and returns the log's folder in it.
func unpack(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(archives[name])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			return filepath.Join(dir, "log")
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(r)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlippedBits checks that each flip is refused, named as an append that a crash cut
// off, or harmless, and that what can be read of a damaged log is what was appended.
func TestFlippedBits(t *testing.T) {
	for _, name := range []string{"stopped", "killed", "format1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpack(t, name)
			want := readAll(t, mustOpen(t, dir))
			var refused, torn, harmless int
			for _, path := range files(t, dir) {
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				step := 1
				if testing.Short() && len(raw) > 1000 {
					step = 17
				}
				for at := 0; at < len(raw); at += step {
					flipped := slices.Clone(raw)
					flipped[at] ^= 1 << (at % 8)
					write(t, path, flipped)
					f, err := oldlog.Open(dir)
					switch {
					case errors.Is(err, oldlog.ErrNewerFormat):
						refused++
						continue
					case errors.Is(err, oldlog.ErrCorrupt):
						refused++
						wantPart(t, dir, want, name != "format1")
						continue
					case err != nil:
						t.Fatalf("byte %d of %s: %v", at, path, err)
					}
					got := readAll(t, f)
					switch {
					case f.Report().TornBytes > 0 && name != "stopped" && slices.Equal(got, want[:len(want)-1]):
						torn++
					case f.Report().TornBytes == 0 && slices.Equal(got, want):
						harmless++
					default:
						t.Fatalf("byte %d of %s: %d appends of %d, %+v", at, path, len(got), len(want), f.Report())
					}
				}
				write(t, path, raw)
			}
			t.Logf("%d refused, %d named, %d harmless", refused, torn, harmless)
		})
	}
}

// wantPart checks that a damaged log yields of each run what was appended, up to some
// append. Messages that had been deleted may be back if the report says so.
func wantPart(t *testing.T, dir string, want []string, marked bool) {
	t.Helper()
	f, err := oldlog.OpenDamaged(dir)
	if err != nil {
		if !errors.Is(err, oldlog.ErrCorrupt) { // of the format
			t.Fatal(err)
		}
		return
	}
	r := f.Report()
	got := readAll(t, f)
	if r.Damage == nil || r.Appends != len(got) {
		t.Fatalf("%d appends are read; %+v", len(got), r)
	}
	whole, part := byRun(t, want), byRun(t, got)
	for id, appends := range part {
		if all := whole[id]; len(appends) > len(all) || !slices.Equal(appends, all[:len(appends)]) {
			if marked && r.Returned == 0 && !strings.Contains(r.Damage.Error(), "high-water-mark") {
				t.Fatalf("%v: run %q has %d appends of %d, %+v", r.Damage, id, len(appends), len(all), r)
			}
		}
	}
}

func byRun(t *testing.T, all []string) map[string][]string {
	t.Helper()
	runs := make(map[string][]string)
	for _, text := range all {
		id, _, _ := strings.Cut(text, `,"Entries"`)
		runs[id] = append(runs[id], text)
	}
	return runs
}

func files(t testing.TB, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
