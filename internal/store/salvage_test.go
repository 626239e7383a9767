package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// A salvagedStore is what is read of a damaged store, as text by run.
type salvagedStore struct {
	*store.Salvage
	content map[string]string
	state   map[string]string
}

func salvage(t *testing.T, f folder) (salvagedStore, error) {
	t.Helper()
	dir := t.TempDir()
	f.write(t, dir)
	s, err := store.OpenSalvage(t.Context(), dir, t.TempDir())
	if err != nil {
		return salvagedStore{}, err
	}
	defer s.Close()
	content := make(map[string]string)
	for a, err := range s.Scan(t.Context()) {
		if err != nil {
			t.Fatalf("%s can't be read again: %v", a.Run, err)
		}
		for _, e := range a.Entries {
			content[a.Run] += fmt.Sprintln(e.Seq, e.Time.UnixNano(), e.Kind, string(e.Data))
		}
	}
	state := make(map[string]string)
	for _, c := range s.State {
		state[c.Key] = string(c.New)
	}
	for _, name := range sqlite.FileNames() {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err == nil && !bytes.Equal(raw, f[name]) {
			t.Errorf("%s has changed", name)
		}
	}
	return salvagedStore{s, content, state}, nil
}

// Whatever is changed in the files of a store, what is salvaged is of each run the beginning,
// and a run that isn't whole is named.
func TestSalvage(t *testing.T) {
	killed, closed, _ := smallStore(t)
	for name, f := range map[string]folder{"killed": killed, "closed": closed} {
		whole, err := salvage(t, f)
		if err != nil || !whole.Whole() || len(whole.Runs) != 10 || len(whole.state) != 7 {
			t.Fatalf("undamaged, %s: %+v, %v", name, whole.Salvage, err)
		}
		got := make(map[string]int)
		try := func(what string, damaged folder) {
			s, err := salvage(t, damaged)
			switch {
			case errors.Is(err, runlog.ErrCorrupt) || errors.Is(err, store.ErrNewerFormat):
				got["refused"]++
				return
			case err != nil:
				t.Errorf("%s: %s: %v", name, what, err)
				return
			}
			for _, r := range s.Runs {
				want := whole.content[r.ID]
				switch {
				case !strings.HasPrefix(want, s.content[r.ID]):
					t.Errorf("%s: %s: run %s is %q", name, what, r.ID, s.content[r.ID])
				case r.Damage == nil && s.LostCommits == 0 && s.Complete && s.content[r.ID] != want:
					t.Errorf("%s: %s: run %s is cut, and not named", name, what, r.ID)
				}
				if r.Damage == nil {
					got["whole runs"]++
				} else {
					got["damaged runs"]++
				}
			}
			for key, value := range s.state {
				if whole.state[key] != value && s.LostCommits == 0 {
					t.Errorf("%s: %s: %s is %q", name, what, key, value)
				}
			}
			if s.StateComplete && s.LostCommits == 0 && !maps.Equal(s.state, whole.state) {
				t.Errorf("%s: %s: of small state, only %d values are there, and nothing is said", name, what, len(s.state))
			}
			if missing := len(whole.Runs) - len(s.Runs); missing > 0 && s.Whole() {
				t.Errorf("%s: %s: %d runs are missing, and nothing is said", name, what, missing)
			}
		}
		for _, file := range sqlite.FileNames() {
			if len(f[file]) > 0 {
				flipSome(f, file, try)
			}
			try(file+" removed", f.with(file, nil))
			try(file+" emptied", f.with(file, []byte{}))
			if file == "beam.db" {
				changePages(f, try)
			}
		}
		t.Log(name, got)
	}
}

// flipSome flips a bit here and there.
func flipSome(f folder, file string, try func(string, folder)) {
	step := 211
	if testing.Short() {
		step = max(1511, len(f[file])/31)
	}
	for i := 0; i < len(f[file]); i += step {
		damaged := bytes.Clone(f[file])
		damaged[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("%s flipped: byte %d", file, i), f.with(file, damaged))
	}
}

// A page of entries that can't be read costs only the runs on it.
func TestSalvageBesideDamage(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	var runs []string
	for i := range 300 {
		runs = append(runs, fmt.Sprintf("%032x", i*7919))
		startRun(t, s, runs[i], runlog.Started{}, runlog.Entry{Kind: "chunk", Data: []byte(`"` + strings.Repeat("x", 500) + `"`)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f := readFolder(t, dir)
	const page = 4096
	for i := 1; (i+1)*page <= len(f["beam.db"]); i += 9 {
		zeroed := bytes.Clone(f["beam.db"])
		clear(zeroed[i*page : (i+1)*page])
		got, err := salvage(t, f.with("beam.db", zeroed))
		if err != nil {
			t.Logf("page %d: %v", i+1, err)
			continue
		}
		whole := 0
		for _, r := range got.Runs {
			if !slices.Contains(runs, r.ID) {
				t.Errorf("page %d: there is a run %q", i+1, r.ID)
			}
			if r.Damage == nil {
				whole++
			}
		}
		if whole < 250 && !interior(f["beam.db"][i*page]) {
			t.Errorf("page %d, a leaf: %d runs are whole of %d, %d without a name", i+1, whole, len(runs), got.Nameless)
		}
	}
}

// interior reports whether a page's first byte is that of an interior page of a b-tree.
func interior(kind byte) bool { return kind == 2 || kind == 5 }
