package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlist/runlisttest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/runstate"
	"github.com/photon-beam/beam/internal/store"
)

// An opener opens a store, and the next time the same one again.
type opener func(t *testing.T) *store.Store

// rowTests are those of rows and lists, on any database.
var rowTests = map[string]func(*testing.T, opener){
	"AreTheFoldOfEntries": testRowsAreTheFoldOfEntries,
	"OfExamples":          testRowsOfExamples,
	"Keys":                testKeys,
	"Lists": func(t *testing.T, open opener) {
		runlisttest.RunSuite(t, func(t *testing.T) runlist.Store { return open(t) })
	},
}

func TestRows(t *testing.T) {
	for name, test := range rowTests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test(t, func(t *testing.T) *store.Store { return openStore(t, store.Options{Dir: dir}) })
		})
	}
}

// The row of a run is what its entries lead to, after each append, whatever is appended, and
// has all of a runstate.Run. It is written by a store that has it in memory, by one that has
// just been opened, and together with others.
func testRowsAreTheFoldOfEntries(t *testing.T, open opener) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := open(t)
	last := make([]uint64, 12)
	for round := range 400 {
		i := r.IntN(len(last))
		run := fmt.Sprint("run ", i)
		var entries []runlog.Entry
		for range 1 + r.IntN(3) {
			entries = append(entries, runlisttest.RandomEntry(r, last[i]+uint64(len(entries))))
		}
		var err error
		switch {
		case round%100 == 99:
			err = s.Close()
			s = open(t)
		case last[i] > 0 && r.IntN(20) == 0:
			err = s.Delete(t.Context(), run)
			last[i] = 0
		default:
			last[i], err = s.Append(t.Context(), run, last[i], entries...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if last[i] > 0 {
			compareWithFold(t, s, run)
		}
		if round%20 == 0 {
			checkWhole(t, s)
		}
	}
	checkWhole(t, s)
}

func testRowsOfExamples(t *testing.T, open opener) {
	s := open(t)
	for _, x := range runlogtest.Examples() {
		for i, e := range x.Entries {
			if _, err := s.Append(t.Context(), x.Name, uint64(i), e); err != nil {
				t.Fatal(err)
			}
			compareWithFold(t, s, x.Name)
		}
	}
	checkWhole(t, s)
}

// compareWithFold compares a row with the fold of its run's entries.
func compareWithFold(t *testing.T, s *store.Store, run string) {
	t.Helper()
	got, err := s.Row(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	var want runstate.Run
	for batch, err := range s.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			_, _ = want.Apply(e)
		}
	}
	if g, w := runlisttest.Describe(got.Run), runlisttest.Describe(want); g != w {
		t.Fatalf("%s: the row has\n%s\nand its entries lead to\n%s", run, g, w)
	}
}

func checkWhole(t *testing.T, s *store.Store) store.Report {
	t.Helper()
	report, err := s.Check(t.Context())
	if err != nil || !report.Whole() {
		t.Fatalf("the store is not whole: %+v, %v", report, err)
	}
	return report
}

// startRun appends the start of a run, and more.
func startRun(t testing.TB, s *store.Store, id string, start runlog.Started, more ...runlog.Entry) {
	t.Helper()
	if start.Photon == "" {
		start.Photon = "p"
	}
	if _, err := s.Append(t.Context(), id, 0, append([]runlog.Entry{runlog.NewEntry(runlog.KindStarted, start)}, more...)...); err != nil {
		t.Fatal(err)
	}
}

func asked(q askdata.Question) runlog.Entry {
	q.Kind, q.Message = askdata.KindText, "?"
	return runlog.NewEntry(runlog.KindAsked, runlog.Asked{Key: "k", Question: &q})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func testKeys(t *testing.T, open opener) {
	s, ctx := open(t), t.Context()
	startRun(t, s, "first", runlog.Started{Owner: "ada", IdempotencyKey: "k"})
	start := runlog.NewEntry(runlog.KindStarted, runlog.Started{Photon: "p", Owner: "ada", IdempotencyKey: "k"})
	_, err := s.Append(ctx, "second", 0, start)
	var duplicate *runlog.DuplicateStartError
	if !errors.As(err, &duplicate) || duplicate.Run != "first" {
		t.Errorf("a second start with the same key: %v", err)
	}
	if _, err := s.Row(ctx, "second"); !errors.Is(err, runlog.ErrNotFound) {
		t.Errorf("the second run: %v", err)
	}
	startRun(t, s, "bob's", runlog.Started{Owner: "bob", IdempotencyKey: "k"})
	if id := must(s.FindStarted(ctx, "bob", "k")); id != "bob's" {
		t.Errorf("bob's run is %s", id)
	}
	for i := range 3 {
		startRun(t, s, fmt.Sprint("q", i), runlog.Started{Owner: "ada", Exclusive: "prod"}, runlog.NewEntry(runlog.KindQueued, runlog.Queued{Key: "prod"}))
	}
	if _, err := s.Append(ctx, "q1", 2, runlog.NewEntry(runlog.KindClaimed, runlog.Claimed{Epoch: 1})); err != nil {
		t.Fatal(err)
	}
	if first := must(s.FirstOf(ctx, "p", "prod")); first.ID != "q1" {
		t.Errorf("the first is %s", first.ID)
	}
	checkWhole(t, s)
}
