// Package logtest holds what every log must keep: one suite for all engines.
package logtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/photon-beam/beam/internal/log"
)

// Run holds a log against the contract of [log.Log]. Each test opens one of its
// own; whoever opens it closes it with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) log.Log) {
	tests := []struct {
		name string
		test func(t *testing.T, l log.Log)
	}{
		{"Append/Ordinals", testOrdinals},
		{"Append/Kept", testKept},
		{"Append/Immutable", testImmutable},
		{"Append/Conflict", testConflict},
		{"Append/OneWins", testOneWins},
		{"Append/WholeBatches", testWholeBatches},
		{"Append/Nothing", testAppendNothing},
		{"Read/Batches", testReadBatches},
		{"Read/Ends", testReadEnds},
		{"Read/Interleaved", testReadInterleaved},
		{"Runs", testRuns},
		{"Delete", testDelete},
		{"Follow/WhileAppending", testFollowWhileAppending},
		{"Follow/SlowFollower", testSlowFollower},
		{"Follow/ManyFollowers", testManyFollowers},
		{"Follow/Finished", testFollowFinished},
		{"Follow/Left", testFollowLeft},
		{"Follow/Deleted", testFollowDeleted},
		{"Follow/Context", testFollowContext},
		{"Follow/NotFound", testFollowNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// patience is how long a test waits for what should come at once.
const patience = 30 * time.Second

// within is a context that ends the test rather than let it hang.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// newRun is the id of a run that no other test has.
func newRun() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it doesn't fail
	return hex.EncodeToString(id)
}

// entry is one whose data is its number.
func entry(n int) log.Entry {
	return log.Entry{Kind: "status", Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
}

func entries(from, to int) []log.Entry {
	var all []log.Entry
	for n := from; n <= to; n++ {
		all = append(all, entry(n))
	}
	return all
}

var finished = log.New(log.KindFinished, log.Finished{Status: log.Completed})

// write appends entries whose numbers are their ordinals, up to last.
func write(t testing.TB, l log.Log, run string, after, last, batch int) {
	t.Helper()
	for after < last {
		end := min(last, after+batch)
		mustAppend(t, l, run, uint64(after), entries(after+1, end)...)
		after = end
	}
}

func mustAppend(t testing.TB, l log.Log, run string, after uint64, all ...log.Entry) {
	t.Helper()
	last, err := l.Append(t.Context(), run, after, all...)
	if err != nil || last != after+uint64(len(all)) {
		t.Errorf("appending %d entries after %d: last is %d, error %v", len(all), after, last, err)
	}
}

// read returns the entries of a run after an ordinal, having checked their
// order and the size of the batches.
func read(t testing.TB, l log.Log, run string, after uint64) []log.Entry {
	t.Helper()
	var all []log.Entry
	for batch, err := range l.Read(within(t), run, after) {
		if err != nil {
			t.Errorf("reading: %v", err)
			break
		}
		checkBatch(t, batch, after+uint64(len(all)))
		all = append(all, batch...)
	}
	return all
}

// checkBatch reports a batch that is too large or empty, or does not follow
// after.
func checkBatch(t testing.TB, batch []log.Entry, after uint64) {
	t.Helper()
	if len(batch) == 0 || len(batch) > log.MaxBatch {
		t.Errorf("a batch has %d entries", len(batch))
	}
	for i, e := range batch {
		if want := after + uint64(i) + 1; e.Seq != want {
			t.Errorf("entry %d came where %d should", e.Seq, want)
			return
		}
	}
}

// numbers reports entries of which the number is not the ordinal.
func numbers(t testing.TB, all []log.Entry) {
	t.Helper()
	for _, e := range all {
		if want := fmt.Sprintf(`{"n":%d}`, e.Seq); e.Kind == "status" && string(e.Data) != want {
			t.Errorf("entry %d is %s, want %s", e.Seq, e.Data, want)
			return
		}
	}
}

// conflict is the ConflictError that an append must have failed with.
func conflict(t testing.TB, err error) *log.ConflictError {
	t.Helper()
	var c *log.ConflictError
	if !errors.As(err, &c) {
		t.Errorf("the error is a %T (%v), want a ConflictError", err, err)
		return &log.ConflictError{}
	}
	return c
}
