package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
)

// A request is what the writer does for a caller: it appends to a run, deletes it, or changes small
// state.
type request struct {
	run     string
	after   uint64
	entries []runlog.Entry // with their times
	data    []byte         // the encoded entries
	dataSum [sha256.Size]byte
	digest  digest // of the run up to here, once its order is known
	token   int64
	sync    bool // before done is closed
	deletes bool // the run
	changes []smallstate.Change

	last    uint64
	applied bool // the changes
	err     error
	done    chan struct{} // closed when these are set
}

// Append implements [runlog.Log]. Apart from a conflict, the error may be
// [*runlog.DuplicateStartError], [ErrAppendTooLarge], [ErrClosed], [runlog.ErrDiskFull],
// [runlog.ErrUnavailable], [runlog.ErrUncertain] or [runlog.ErrCorrupt]. Once it has sent the
// entries, Append waits for the outcome even if ctx is canceled.
func (s *Store) Append(ctx context.Context, run string, after uint64, entries ...runlog.Entry) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !utf8.ValidString(run) {
		return 0, fmt.Errorf("the id of a run is not UTF-8: %q", run)
	}
	q := &request{run: run, after: after, done: make(chan struct{})}
	if len(entries) > 0 {
		if err := s.encode(q, entries); err != nil {
			return 0, fmt.Errorf("appending to run %s: %w", run, err)
		}
	}
	err := s.send(ctx, q)
	return q.last, err
}

// encode encodes the entries of an append.
func (s *Store) encode(q *request, entries []runlog.Entry) error {
	q.entries = runlog.Number(q.after, entries) // they are the writer's
	q.data = encodeEntries(q.entries)
	q.dataSum, q.token = sha256.Sum256(q.data), int64(rand.Uint64())
	q.sync = s.options.Sync == SyncAlways || s.options.Sync == SyncDefault && mustSync(q.entries)
	last := q.entries[len(q.entries)-1].Kind
	return s.checkSize(len(q.data), last == runlog.KindStepped || last == runlog.KindFinished) // a step must not run twice, and a finished run can be deleted
}

// pagesOfAppend is about how much an append writes beyond its data.
const pagesOfAppend = 32 << 10

// checkSize returns [ErrAppendTooLarge], or [runlog.ErrDiskFull] if the disk has no space for so
// many bytes; for essential ones, there is more.
func (s *Store) checkSize(bytes int, essential bool) error {
	switch {
	case bytes > MaxAppendBytes:
		return fmt.Errorf("%w: %s, at most %s", ErrAppendTooLarge, humanize.Bytes(int64(bytes)), humanize.Bytes(MaxAppendBytes))
	case s.disk == nil:
		return nil
	case essential:
		return s.disk.CheckEssentialWrite(2*bytes + pagesOfAppend)
	}
	return s.disk.CheckWrite(2*bytes + pagesOfAppend)
}

// send has the writer do a request.
func (s *Store) send(ctx context.Context, q *request) error {
	if s.queue == nil {
		return errSnapshot
	}
	select {
	case s.queue <- q:
	case <-s.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-q.done:
		return q.err
	case <-s.writerDone:
	}
	select {
	case <-q.done:
		return q.err
	default:
		return ErrClosed // it was sent too late
	}
}

// Delete implements [runlog.Log].
func (s *Store) Delete(ctx context.Context, run string) error {
	// Synced, because files that belong to the run are deleted next.
	return s.send(ctx, &request{run: run, deletes: true, sync: true, done: make(chan struct{})})
}
