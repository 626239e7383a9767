// Package runlogtest holds the test suite that every [runlog.Log] must pass.
package runlogtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
)

// RunSuite tests a log against the contract of [runlog.Log]. Each test calls open for
// a log of its own; open must close it with t.Cleanup.
func RunSuite(t *testing.T, open func(t *testing.T) runlog.Log) {
	tests := []struct {
		name string
		test func(t *testing.T, l runlog.Log)
	}{
		{"Append/Kept", testContentUnchanged},
		{"Append/Immutable", testImmutable},
		{"Append/Concurrent", testConcurrentAppends},
		{"RandomRuns", testRandomRuns},
		{"Read/Again", testReadAgain},
		{"Read/Ends", testReadEnds},
		{"Follow/WhileAppending", testFollowWhileAppending},
		{"Follow/SlowFollower", testSlowFollower},
		{"Follow/Left", testFollowResumed},
		{"Follow/Deleted", testFollowDeleted},
		{"Follow/Context", testFollowContext},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// testTimeout is how long a test waits for something that should happen at once.
const testTimeout = 30 * time.Second

// testContext returns a context with a deadline, so that a test fails rather than
// hangs.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// newRunID returns a random run id.
func newRunID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it doesn't fail
	return hex.EncodeToString(id)
}

// numberedEntry returns an entry whose data is n.
func numberedEntry(n int) runlog.Entry {
	return runlog.Entry{Kind: "status", Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
}

func numberedEntries(from, to int) []runlog.Entry {
	var all []runlog.Entry
	for n := from; n <= to; n++ {
		all = append(all, numberedEntry(n))
	}
	return all
}

var finishedEntry = runlog.NewEntry(runlog.KindFinished, runlog.Finished{Status: runlog.Completed})

// appendNumbered appends the entries after+1 to last, numbered by their ordinals, in
// batches.
func appendNumbered(t testing.TB, l runlog.Log, run string, after, last, batch int) {
	t.Helper()
	for after < last {
		end := min(last, after+batch)
		mustAppend(t, l, run, uint64(after), numberedEntries(after+1, end)...)
		after = end
	}
}

func mustAppend(t testing.TB, l runlog.Log, run string, after uint64, all ...runlog.Entry) {
	t.Helper()
	last, err := l.Append(t.Context(), run, after, all...)
	if err != nil || last != after+uint64(len(all)) {
		t.Errorf("appending %d entries after %d: last is %d, error %v", len(all), after, last, err)
	}
}

// readAll returns the entries of a run after an ordinal. It checks their order and
// the size of the batches.
func readAll(t testing.TB, l runlog.Log, run string, after uint64) []runlog.Entry {
	t.Helper()
	var all []runlog.Entry
	for batch, err := range l.Read(testContext(t), run, after) {
		if err != nil {
			t.Errorf("reading: %v", err)
			break
		}
		checkBatch(t, batch, after+uint64(len(all)))
		all = append(all, batch...)
	}
	return all
}

// checkBatch checks that a batch follows the ordinal after, and is neither empty nor
// too large.
func checkBatch(t testing.TB, batch []runlog.Entry, after uint64) {
	t.Helper()
	if len(batch) == 0 || len(batch) > runlog.MaxBatchEntries {
		t.Errorf("a batch has %d entries", len(batch))
	}
	for i, e := range batch {
		if want := after + uint64(i) + 1; e.Seq != want {
			t.Errorf("got entry %d, want %d", e.Seq, want)
			return
		}
	}
}

// checkNumbers checks that the entries' numbers are their ordinals.
func checkNumbers(t testing.TB, all []runlog.Entry) {
	t.Helper()
	for _, e := range all {
		if want := fmt.Sprintf(`{"n":%d}`, e.Seq); e.Kind == "status" && string(e.Data) != want {
			t.Errorf("entry %d is %s, want %s", e.Seq, e.Data, want)
			return
		}
	}
}

// asConflict returns err as a ConflictError, which it must be.
func asConflict(t testing.TB, err error) *runlog.ConflictError {
	t.Helper()
	var c *runlog.ConflictError
	if !errors.As(err, &c) {
		t.Errorf("the error is a %T (%v), want a ConflictError", err, err)
		return &runlog.ConflictError{}
	}
	return c
}
