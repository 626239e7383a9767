package runlogtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
)

// testReadBatches reads a long run from several ordinals.
func testReadBatches(t *testing.T, l runlog.Log) {
	const last = 2*runlog.MaxBatchEntries + 100
	run := newRunID()
	appendNumbered(t, l, run, 0, last, 500)
	for _, after := range []uint64{0, 1, 99, 100, runlog.MaxBatchEntries, last - 1, last, last + 1, 1 << 63} {
		all := readAll(t, l, run, after)
		want := max(0, last-int(min(after, last)))
		if len(all) != want {
			t.Errorf("after %d: %d entries, want %d", after, len(all), want)
		}
		checkNumbers(t, all)
	}
	if all := readAll(t, l, newRunID(), 0); len(all) != 0 {
		t.Errorf("a run that doesn't exist has %d entries", len(all))
	}
	// An iterator may be used twice, and yields what is there at that time.
	seq := l.Read(testContext(t), run, last)
	for range 2 {
		n := 0
		for batch, err := range seq {
			if err != nil {
				t.Error(err)
			}
			n += len(batch)
		}
		if n > 0 && n != 1 {
			t.Errorf("%d entries after the last", n)
		}
		if n == 0 {
			mustAppend(t, l, run, last, numberedEntry(last+1))
		}
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

func listRuns(t *testing.T, l runlog.Log) []string {
	t.Helper()
	var ids []string
	for id, err := range l.Runs(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// testRuns checks that Runs yields each run once, finished or not.
func testRuns(t *testing.T, l runlog.Log) {
	if ids := listRuns(t, l); len(ids) != 0 {
		t.Errorf("a new log has the runs %q", ids)
	}
	var want []string
	for i := range 50 {
		run := newRunID()
		appendNumbered(t, l, run, 0, i%5+1, 2)
		if i%3 == 0 {
			mustAppend(t, l, run, uint64(i%5+1), finishedEntry)
		}
		want = append(want, run)
	}
	slices.Sort(want)
	if got := listRuns(t, l); !slices.Equal(got, want) {
		t.Errorf("%d runs, want %d", len(got), len(want))
	}
	for range l.Runs(testContext(t)) {
		break
	}
}

// testDelete checks that a run is deleted at once and for good, and that others
// remain.
func testDelete(t *testing.T, l runlog.Log) {
	deleted, kept := newRunID(), newRunID()
	appendNumbered(t, l, deleted, 0, 5, 5)
	appendNumbered(t, l, kept, 0, 5, 5)
	for range 2 { // deleting what is not there is no error
		if err := l.Delete(t.Context(), deleted); err != nil {
			t.Errorf("deleting: %v", err)
		}
		if all := readAll(t, l, deleted, 0); len(all) != 0 {
			t.Errorf("%d entries are left", len(all))
		}
		if ids := listRuns(t, l); !slices.Equal(ids, []string{kept}) {
			t.Errorf("the runs are %q", ids)
		}
	}
	if err := l.Delete(t.Context(), newRunID()); err != nil {
		t.Errorf("deleting a run that never existed: %v", err)
	}
	if _, err := l.Append(t.Context(), deleted, 5, numberedEntry(6)); err == nil {
		t.Error("appended to a deleted run")
	}
	checkNumbers(t, readAll(t, l, kept, 0))
	appendNumbered(t, l, kept, 5, 6, 1)
	appendNumbered(t, l, deleted, 0, 2, 1) // the run can start again
	checkNumbers(t, readAll(t, l, deleted, 0))
}

// testReadInterleaved reads short and long runs whose entries are interleaved, from
// several ordinals. One of them was deleted and started again.
func testReadInterleaved(t *testing.T, l runlog.Log) {
	const rounds, many = 100, 20
	ids := make([]string, many)
	for i := range ids {
		ids[i] = newRunID()
	}
	last := make([]int, many)
	for round := range rounds {
		for i, id := range ids {
			if round > 5*i { // the first are short
				continue
			}
			if i == many-1 && round == rounds/2 {
				if err := l.Delete(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				last[i] = 0
			}
			n := 1 + (round+i)%3
			appendNumbered(t, l, id, last[i], last[i]+n, n)
			last[i] += n
		}
	}
	for i, id := range ids {
		for _, after := range []int{0, 1, last[i] / 2, last[i] - 1, last[i]} {
			all := readAll(t, l, id, uint64(after))
			if len(all) != last[i]-after {
				t.Errorf("run %d of %d entries has %d after %d", i, last[i], len(all), after)
			}
			checkNumbers(t, all)
		}
	}
}
