package runlogtest

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// An expectedLog is a log whose entries are numbered by their ordinals, and how many each run must
// have.
type expectedLog struct {
	runlog.Log
	runs map[string]int
}

// testRandomRuns appends to several runs in turn, in appends of any size, and deletes some, which
// may start again.
func testRandomRuns(t *testing.T, l runlog.Log) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	x := expectedLog{l, make(map[string]int)}
	x.check(t)
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = newRunID()
		x.checkMissing(t, ids[i])
	}
	for round := range 600 {
		i := r.IntN(1 + r.IntN(len(ids))) // the first get the most
		run := ids[i]
		switch last := x.runs[run]; {
		case last > 0 && r.IntN(30) == 0:
			x.delete(t, run)
		case last > 0 && r.IntN(20) == 0:
			mustAppend(t, l, run, uint64(last)) // nothing
		default:
			n := 1 + r.IntN([]int{1, 3, 7, 200}[r.IntN(4)])
			appendNumbered(t, l, run, last, last+n, n)
			x.runs[run] += n
		}
		if round%60 == 59 {
			x.check(t)
		}
	}
	last := x.runs[ids[0]]
	x.runs[ids[0]] = last + 2*runlog.MaxBatchEntries
	appendNumbered(t, l, ids[0], last, x.runs[ids[0]], 500)
	mustAppend(t, l, ids[1], uint64(x.runs[ids[1]]), finishedEntry)
	x.runs[ids[1]]++
	x.check(t)
	for run := range x.runs {
		x.delete(t, run)
	}
	x.check(t)
}

// delete deletes a run, at once and for good. Deleting what isn't there is no error.
func (x expectedLog) delete(t *testing.T, run string) {
	t.Helper()
	for range 2 {
		if err := x.Delete(t.Context(), run); err != nil {
			t.Errorf("deleting: %v", err)
		}
		x.checkMissing(t, run)
	}
	if _, err := x.Append(t.Context(), run, uint64(x.runs[run]), numberedEntry(x.runs[run]+1)); err == nil {
		t.Error("appended to a deleted run")
	}
	delete(x.runs, run)
}

// checkMissing checks that a run doesn't exist, and that appending nothing doesn't start it.
func (x expectedLog) checkMissing(t *testing.T, run string) {
	t.Helper()
	if last, err := x.Append(t.Context(), run, 0); err != nil || last != 0 {
		t.Errorf("nothing after nothing: %d, %v", last, err)
	}
	if all := readAll(t, x, run, 0); len(all) != 0 {
		t.Errorf("%d entries are left", len(all))
	}
	if _, err := x.Append(t.Context(), run, 5, numberedEntry(1)); err == nil {
		t.Error("a run begins with its sixth entry")
	}
	checkNotFound(t, x, run)
}

// check checks what is read of all runs from any ordinal, and that an append after a wrong one
// adds nothing.
func (x expectedLog) check(t *testing.T) {
	t.Helper()
	var ids []string
	for id, err := range x.Runs(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if slices.Sort(ids); !slices.Equal(ids, slices.Sorted(maps.Keys(x.runs))) {
		t.Errorf("the runs are %q, want %v", ids, x.runs)
	}
	for range x.Runs(testContext(t)) {
		break
	}
	for run, n := range x.runs {
		last := uint64(n)
		for _, after := range []uint64{0, 1, last / 2, last - 1, last, last + 1, runlog.MaxBatchEntries, 1 << 40, 1 << 63} {
			all := readAll(t, x, run, after)
			if want := n - int(min(after, last)); len(all) != want {
				t.Errorf("after %d: %d entries, want %d", after, len(all), want)
			}
			checkNumbers(t, all)
			if after == last {
				continue
			}
			_, err := x.Append(t.Context(), run, after, numberedEntries(1, 5)...)
			if c := asConflict(t, err); c.Run != run || c.After != after || c.Last != last {
				t.Errorf("after %d: %+v", after, c)
			}
		}
	}
}

// testReadAgain checks that an iterator may be used twice, and yields what is there at that time.
func testReadAgain(t *testing.T, l runlog.Log) {
	run := newRunID()
	appendNumbered(t, l, run, 0, 3, 3)
	seq := l.Read(testContext(t), run, 2)
	for want := 1; want <= 2; want++ {
		n := 0
		for batch, err := range seq {
			if err != nil {
				t.Error(err)
			}
			n += len(batch)
		}
		if n != want {
			t.Errorf("%d entries, want %d", n, want)
		}
		appendNumbered(t, l, run, 2+want, 3+want, 1)
	}
}

// testReadEnds checks that Read ends with the entries that existed when it began,
// when the loop is left, or with ctx's error.
func testReadEnds(t *testing.T, l runlog.Log) {
	run := newRunID()
	appendNumbered(t, l, run, 0, 2*runlog.MaxBatchEntries, 500)
	seen, last := 0, 2*runlog.MaxBatchEntries
	for batch, err := range l.Read(testContext(t), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen += len(batch); seen > 20*runlog.MaxBatchEntries {
			t.Fatal("Read doesn't end during appends")
		}
		appendNumbered(t, l, run, last, last+500, 500)
		last += 500
	}
	if seen < 2*runlog.MaxBatchEntries {
		t.Errorf("%d entries, and %d were there", seen, 2*runlog.MaxBatchEntries)
	}
	for range l.Read(testContext(t), run, 0) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	var end error
	for _, err := range l.Read(ctx, run, 0) {
		end = err
		cancel()
	}
	cancel()
	if !errors.Is(end, context.Canceled) {
		t.Errorf("it ended with %v", end)
	}
}
