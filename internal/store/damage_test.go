package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlist/runlisttest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// A folder has the files of a store, by name.
type folder map[string][]byte

func readFolder(t *testing.T, dir string) folder {
	t.Helper()
	f := make(folder)
	for _, name := range sqlite.FileNames() {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			f[name] = raw
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return f
}

func (f folder) write(t *testing.T, dir string) {
	t.Helper()
	for _, name := range sqlite.FileNames() {
		path := filepath.Join(dir, name)
		_ = os.Remove(path)
		if raw, ok := f[name]; ok {
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// with returns a copy of the folder with another content of a file; nil for none.
func (f folder) with(name string, content []byte) folder {
	c := maps.Clone(f)
	if c[name] = content; content == nil {
		delete(c, name)
	}
	return c
}

// smallStore fills a store with runs of all kinds, and returns its files as a kill would leave
// them, and closed, and everything that can be read of it.
func smallStore(t *testing.T) (killed, closed folder, content string) {
	t.Helper()
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir, Sync: store.SyncAlways})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 10 {
		run, last := fmt.Sprint("run ", i), uint64(0)
		startRun(t, s, run, runlog.Started{Owner: []string{"ada", "bob"}[i%2], Durable: true, IdempotencyKey: run})
		for last = 1; last < 6; {
			var err error
			if last, err = s.Append(t.Context(), run, last, runlisttest.RandomEntry(r, last)); err != nil {
				t.Fatal(err)
			}
		}
		if i%4 == 0 {
			large := runlog.Entry{Kind: "chunk", Data: []byte(`"` + strings.Repeat("x", 9000) + `"`)}
			if _, err := s.Append(t.Context(), run, last, large, asked(askdata.Question{From: []askdata.Who{askdata.Who{User: "eve"}}})); err != nil {
				t.Fatal(err)
			}
		}
		if i == 5 { // a part of it is in the database, the rest in the write-ahead log
			if err := store.Checkpoint(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	changeSmallState(t, s)
	content = readEverything(t, s)
	killed = readFolder(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return killed, readFolder(t, dir), content
}

// changeSmallState adds values, one of which is on a page of its own, and changes one.
func changeSmallState(t *testing.T, s *store.Store) {
	t.Helper()
	b := smallstate.Bucket{Store: s.State(), Name: "b"}
	for i := range 8 {
		if added, err := b.Add(t.Context(), fmt.Sprint("key ", i), bytes.Repeat([]byte{byte(i) + 1}, 1+i*i*100)); !added || err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Delete(t.Context(), "key 3"); err != nil {
		t.Fatal(err)
	}
	if err := b.Update(t.Context(), "key 4", func([]byte) ([]byte, error) { return []byte("changed"), nil }); err != nil {
		t.Fatal(err)
	}
}

// readEverything returns the log, the lists and small state as text. An error is part of it.
func readEverything(t *testing.T, s *store.Store) string {
	var b strings.Builder
	for run, err := range s.Runs(t.Context()) {
		fmt.Fprintln(&b, run, err)
		for batch, err := range s.Read(t.Context(), run, 0) {
			for _, e := range batch {
				fmt.Fprintln(&b, e.Seq, e.Time.UnixNano(), e.Kind, string(e.Data))
			}
			fmt.Fprintln(&b, err)
		}
		row, err := s.Row(t.Context(), run)
		if err == nil {
			fmt.Fprintln(&b, runlisttest.Describe(row.Run))
		}
	}
	for _, owner := range []string{"ada", "bob", "user:eve", ""} {
		runs, err := s.RunsOf(t.Context(), owner, runlist.Position{}, 100)
		asks, askErr := s.Asks(t.Context(), runlist.AskFilter{Owner: owner}, runlist.Position{}, 100)
		counts, countErr := s.CountOf(t.Context(), owner)
		for _, r := range runs {
			fmt.Fprintln(&b, r.ID)
		}
		for _, a := range asks {
			fmt.Fprintln(&b, a.ID())
		}
		fmt.Fprintln(&b, err, askErr, counts, countErr)
	}
	for v, err := range (smallstate.Bucket{Store: s.State(), Name: "b"}).All(t.Context()) {
		fmt.Fprintf(&b, "%s %x %v\n", v.Key, v.Value, err)
	}
	return b.String()
}

// An outcome of damage: the store isn't opened, something can't be read, Check names it, or
// nothing that is read has changed.
type outcome string

const (
	refused  outcome = "refused"
	unread   outcome = "refused on reading"
	named    outcome = "named by Check"
	harmless outcome = "harmless"
	silent   outcome = "NOT NOTICED"
)

func (f folder) outcome(t *testing.T, dir, content string) outcome {
	t.Helper()
	f.write(t, dir)
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		if !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("damage is refused as %v", err)
		}
		return refused
	}
	defer s.Close()
	read := readEverything(t, s)
	if strings.Contains(read, runlog.ErrCorrupt.Error()) {
		return unread
	}
	report, err := s.Check(t.Context())
	switch {
	case err != nil && !errors.Is(err, runlog.ErrCorrupt):
		t.Errorf("damage is checked as %v", err)
		return named
	case err != nil || !report.Whole():
		return named
	case read != content:
		return silent
	}
	return harmless
}

// Whatever is changed in the files of a store is refused, named, or harmless. With -short, a
// part of the bytes is tried.
func TestDamage(t *testing.T) {
	killed, closed, content := smallStore(t)
	dir := memoryDir(t)
	for name, f := range map[string]folder{"killed": killed, "closed": closed} {
		if got := f.outcome(t, dir, content); got != harmless {
			t.Fatalf("a store that was %s is %s without damage", name, got)
		}
		counts := make(map[string]map[outcome]int)
		try := func(what string, damaged folder) {
			got := damaged.outcome(t, dir, content)
			if kind, _, _ := strings.Cut(what, ":"); counts[kind] == nil {
				counts[kind] = map[outcome]int{got: 1}
			} else {
				counts[kind][got]++
			}
			if got == silent {
				t.Errorf("%s: %s is %s", name, what, got)
			}
		}
		for _, file := range slices.Sorted(maps.Keys(f)) {
			flip(t, f, file, try)
			try(file+" removed", f.with(file, nil))
			try(file+" emptied", f.with(file, []byte{}))
			if len(f[file]) > 1 {
				try(file+" halved", f.with(file, f[file][:len(f[file])/2]))
			}
			if file == "beam.db" {
				changePages(f, try)
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(counts)) {
			t.Log(name, kind, counts[kind])
		}
	}
}

// memoryDir returns a folder in memory, if the system has one: thousands of stores are opened.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "beam")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// flip flips bits of a file.
func flip(t *testing.T, f folder, file string, try func(string, folder)) {
	step, inHeaders := 67, 1
	switch {
	case os.Getenv("BEAM_TEST_LONG") != "":
		step = 17
	case testing.Short():
		step, inHeaders = max(1009, len(f[file])/97), 7
	}
	const page = 4096
	for i := 0; i < len(f[file]); {
		damaged := bytes.Clone(f[file])
		damaged[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("%s flipped: byte %d", file, i), f.with(file, damaged))
		switch {
		case i < 120 && file != "beam.db-shm":
			i += inHeaders
		case i%page < 8 && !testing.Short():
			i++
		default:
			i += step
		}
	}
}

// changePages cuts, swaps and zeroes pages of the database.
func changePages(f folder, try func(string, folder)) {
	const page = 4096
	db := f["beam.db"]
	for i := 0; i*page < len(db); i++ {
		try(fmt.Sprintf("beam.db cut: before page %d", i+1), f.with("beam.db", db[:i*page]))
		zeroed := bytes.Clone(db)
		clear(zeroed[i*page : (i+1)*page])
		try(fmt.Sprintf("beam.db zeroed: page %d", i+1), f.with("beam.db", zeroed))
		if next := (i + 2) * page; next <= len(db) {
			swapped := bytes.Clone(db)
			copy(swapped[i*page:], db[(i+1)*page:next])
			copy(swapped[(i+1)*page:next], db[i*page:])
			try(fmt.Sprintf("beam.db swapped: page %d", i+1), f.with("beam.db", swapped))
		}
	}
}
