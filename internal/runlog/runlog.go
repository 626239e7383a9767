// Package runlog defines the log of a run: an ordered, append-only list of
// entries, from which everything that Beam knows about the run is derived.
//
// [Log] has two implementations: [Memory], and the durable one in package
// store. Package runlogtest holds the test suite that both pass.
package runlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Kind is the kind of an entry: a kind of event (see [driver.Encode]) or one
// of the constants below.
type Kind string

// Kinds of entries that aren't events. The data of each has a type: that of
// KindStarted is [Started], and so on.
const (
	KindStarted   Kind = "started"
	KindQueued    Kind = "queued"
	KindClaimed   Kind = "claimed"
	KindAsked     Kind = "asked"
	KindAnswered  Kind = "answered"
	KindStepped   Kind = "stepped"
	KindWithdrawn Kind = "withdrawn"
	KindSleeping  Kind = "sleeping"
	KindWoken     Kind = "woken"
	KindRepeated  Kind = "repeated"
	KindParked    Kind = "parked"
	KindAdopted   Kind = "adopted"
	KindSampling  Kind = "sampling"
	KindFinished  Kind = "finished"
)

// An Entry is one record of a run.
type Entry struct {
	// Seq is the entry's ordinal within its run, set by the log. Ordinals begin
	// with 1 and have no gaps.
	Seq  uint64          `json:"seq"`
	Time time.Time       `json:"time"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`
	// Blob is the digest of the data if it is too large for an entry; Data is
	// then empty.
	Blob string `json:"blob,omitempty"`

	// Goroutine is the goroutine of the generator that an event or a call comes from; see
	// [driver.Run.Goroutine]. It is empty in what the generator itself yields, and in
	// entries of earlier versions; see [Claimed].
	Goroutine string `json:"goroutine,omitempty"`
	// Step is the key of the step whose function yielded the event; empty for none.
	Step string `json:"step,omitempty"`

	// decoded is the value that Data encodes if NewEntry made the entry, so that
	// Decode need not decode it. Logs don't store it.
	decoded any
}

// MaxEntryData is the maximum size of an entry's data. Larger data is stored as a
// blob.
const MaxEntryData = 256 << 10

// A Log stores the entries of runs. Its methods may be called from several
// goroutines. Callers must not modify the entries that it yields.
type Log interface {
	// Append adds all entries to a run, or none, provided that the run's last
	// entry has the ordinal after (0 starts the run). It returns the ordinal of
	// the last entry added. If another append came first, the error is a
	// [*ConflictError]; if there is no such run, it is [ErrNotFound]. Appending
	// no entries doesn't start a run, but checks after. The log doesn't retain
	// the caller's slices.
	Append(ctx context.Context, run string, after uint64, entries ...Entry) (last uint64, err error)

	// Read yields, in batches, the entries that a run now has after an ordinal.
	// A run that doesn't exist has none.
	Read(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error]

	// Follow yields the entries of a run after an ordinal, including those
	// appended later, in batches of what has arrived since the last one. It
	// ends after a finished entry, when the run is deleted, with [ErrNotFound]
	// if there is no such run, or with ctx's error. A slow follower gets larger
	// batches; it never slows an append.
	Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error]

	// Sync returns when all that was appended before survives a power failure.
	Sync(ctx context.Context) error

	// Runs yields the ids of all runs.
	Runs(ctx context.Context) iter.Seq2[string, error]

	// Delete deletes a run. Deleting a run that doesn't exist is no error.
	Delete(ctx context.Context, run string) error
}

// MaxBatchEntries is the maximum number of entries in a batch of Read and Follow.
const MaxBatchEntries = 1024

// Errors of a log, apart from [ConflictError].
var (
	// ErrDiskFull means that there is no space for an append. Nothing that was
	// appended before is lost, and appends succeed again once there is space.
	ErrDiskFull = errors.New("the disk is full")
	// ErrUnavailable means that nothing can be appended for now.
	ErrUnavailable = errors.New("nothing can be recorded now")
	// ErrUncertain means that the entries may or may not have been appended. To
	// find out, append no entries until that succeeds or fails with a conflict.
	ErrUncertain = errors.New("it is not known whether this was recorded")
	// ErrCorrupt means that recorded entries are missing or can't be read.
	ErrCorrupt = errors.New("the log is damaged")
	// ErrNotFound means that the run doesn't exist.
	ErrNotFound = errors.New("no such run")
)

// A ConflictError means that another append came first.
type ConflictError struct {
	Run   string
	After uint64 // ordinal that the append expected to be the last
	Last  uint64 // ordinal of the last entry
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("run %s: the last entry is %d, not %d", e.Run, e.Last, e.After)
}

// A DuplicateStartError means that a run can't start because an earlier one of the same caller
// has its idempotency key.
type DuplicateStartError struct{ Run string }

func (e *DuplicateStartError) Error() string {
	return fmt.Sprintf("run %s was started with the same idempotency key", e.Run)
}

// Number returns a copy of the entries of an append after an ordinal, with their ordinals, and
// with the present time if they have none.
func Number(after uint64, entries []Entry) []Entry {
	numbered := slices.Clone(entries)
	now := time.Now()
	for i := range numbered {
		numbered[i].Seq = after + uint64(i) + 1
		if numbered[i].Time.IsZero() {
			numbered[i].Time = now
		}
	}
	return numbered
}
