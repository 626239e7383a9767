// Package log is the record: every run is an ordered, append-only log, and
// everything that Beam knows about a run is read from it.
//
// The interface is small so that two engines can stand behind it: [Memory], and
// one on a message broker. Package logtest holds the suite that both must pass.
package runlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Kind says what an entry records: a kind of event (see generators.Encode) or
// one of the kinds below.
type Kind string

// The kinds of entries that are no events. Each has a type of the same name for
// its data.
const (
	KindStarted   Kind = "started"
	KindClaimed   Kind = "claimed"
	KindAsked     Kind = "asked"
	KindAnswered  Kind = "answered"
	KindStepped   Kind = "stepped"
	KindWithdrawn Kind = "withdrawn"
	KindFinished  Kind = "finished"
)

// IsEvent tells whether an entry is something that the generator yielded to be
// shown: a status, progress, log line, chunk, toast or artifact.
func (k Kind) IsEvent() bool {
	switch k {
	case KindStarted, KindClaimed, KindAsked, KindAnswered, KindStepped, KindWithdrawn, KindFinished:
		return false
	}
	return true
}

// An Entry is one record of a run.
type Entry struct {
	// Seq is the entry's ordinal within its run: 1, 2, 3 and so on, without
	// gaps. The log sets it.
	Seq  uint64          `json:"seq"`
	Time time.Time       `json:"time"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`
	// Blob names the data by its digest where it is too large for an entry;
	// then Data is empty.
	Blob string `json:"blob,omitempty"`

	// decoded is what Data encodes, where the entry was just made: who makes an
	// entry and takes it in need not decode it. No log keeps it.
	decoded any
}

// MaxEntryData is the most bytes of data that an entry holds itself. What is larger
// goes to the blob store.
const MaxEntryData = 256 << 10

// A Log keeps the entries of runs. Its methods may be called from several
// goroutines. Entries that it hands out must not be changed.
type Log interface {
	// Append adds entries to a run, all or none, as those that follow the
	// entry with the ordinal after (0 begins the run). If another append came
	// first, the error is a [*ConflictError] and nothing is added. It returns
	// the ordinal of the last entry added. Appending no entries begins no run;
	// what the caller writes to its slices afterwards changes no entry.
	Append(ctx context.Context, run string, after uint64, entries ...Entry) (last uint64, err error)

	// Read yields the entries of a run after an ordinal that are there now, in
	// batches. A run that does not exist has none.
	Read(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error]

	// Follow yields the entries of a run after an ordinal, those that are
	// there and those that come, in batches of what has arrived in the
	// meantime. It ends after a finished entry, when the run is deleted, with
	// [ErrNotFound] if there is no such run, or with ctx's error. A follower
	// that is slow gets larger batches; it never slows an append.
	Follow(ctx context.Context, run string, after uint64) iter.Seq2[[]Entry, error]

	// Runs yields the ids of all runs.
	Runs(ctx context.Context) iter.Seq2[string, error]

	// Delete forgets a run. Deleting what is not there is no error.
	Delete(ctx context.Context, run string) error
}

// A CacheEvictor is a log that keeps some runs in memory beside where it has them.
type CacheEvictor interface {
	// EvictCached says that a run will wait for long: nothing of it need be kept there.
	EvictCached(run string)
}

// MaxBatchEntries is the most entries that Read and Follow yield at once.
const MaxBatchEntries = 1024

// What can be wrong with a log or an append, beside a conflict.
var (
	// ErrDiskFull: there is no room for what was to be appended. Nothing is lost
	// that was, and appends succeed again when there is room.
	ErrDiskFull = errors.New("the disk is full")
	// ErrUnavailable: nothing can be appended now. It may be later.
	ErrUnavailable = errors.New("nothing can be recorded now")
	// ErrUncertain: the log did not say whether the entries were added. An append
	// of no entries tells, by succeeding or by a conflict, once it does either.
	ErrUncertain = errors.New("it is not known whether this was recorded")
	// ErrCorrupt: something that was recorded is missing, or can't be read.
	ErrCorrupt = errors.New("the log is damaged")
	// ErrNotFound: there is no such run.
	ErrNotFound = errors.New("log: no such run")
)

// A ConflictError is an append that another one preceded.
type ConflictError struct {
	Run   string
	After uint64 // what the append expected to be last
	Last  uint64 // what is last
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("log: run %s: entry %d was to be the last, and %d is", e.Run, e.After, e.Last)
}
