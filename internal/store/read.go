package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
)

// A head is the end of a run's log.
type head struct {
	num    int64
	last   uint64
	digest digest
	ended  bool
}

// findHead returns where a run ends now. The error is [runlog.ErrNotFound] if it doesn't exist.
func (s *Store) findHead(ctx context.Context, run string) (h head, err error) {
	err = s.queryOne(ctx, "SELECT num, head, digest, ended IS NOT NULL FROM runs WHERE id = $1", func(row scanner) error {
		return row.Scan(&h.num, &h.last, &h.digest, &h.ended)
	}, toText(run))
	return h, err
}

// A cursor reads the entries of a run in pages. It checks their chain.
type cursor struct {
	store *Store
	head  head // of what it reads
	after uint64
	chain chainReader // its next row is 0 at first
}

func (s *Store) newCursor(run string, h head, after uint64) *cursor {
	return &cursor{store: s, head: h, after: after, chain: chainReader{run: run}}
}

// Bounds of a page that is read at once.
const (
	pageRows = 256
	pageData = 1 << 20
)

const (
	selectEntries = "SELECT first, n, digest, data FROM entries WHERE run = $1 AND first >= $2 ORDER BY first LIMIT $3"
	// The row that has an entry is the last one that doesn't begin after it. Its chain begins
	// with the digest of the row before.
	selectBefore = "SELECT first + n, digest FROM entries WHERE run = $1 AND first <= $2 ORDER BY first DESC LIMIT 1 OFFSET 1"
)

// done reports whether all entries up to the head were read.
func (c *cursor) done() bool { return c.after >= c.head.last }

// next returns the entries of the next page. They are none if the run has been deleted.
func (c *cursor) next(ctx context.Context) (entries []runlog.Entry, err error) {
	if c.chain.next == 0 {
		c.chain.next = 1
		before := func(row scanner) error { return row.Scan(&c.chain.next, &c.chain.digest) }
		if c.after > 0 {
			err = c.store.query(ctx, selectBefore, before, c.head.num, c.after+1)
		}
		if err != nil {
			return nil, c.checkGone(ctx, err)
		}
	}
	read := c.chain.bytes
	err = c.store.query(ctx, selectEntries, func(row scanner) error {
		if c.done() || len(entries) >= runlog.MaxBatchEntries || c.chain.bytes-read >= pageData {
			return errStop
		}
		entries, err = c.chain.add(entries, row, c.after)
		if err != nil {
			return err
		}
		c.after = max(c.after, c.chain.next-1)
		if c.done() && (c.after > c.head.last || c.chain.digest != c.head.digest) {
			return fmt.Errorf("%w: run %s doesn't end with what was recorded last", runlog.ErrCorrupt, c.chain.run)
		}
		return nil
	}, c.head.num, c.chain.next, pageRows)
	if err == nil && len(entries) == 0 {
		err = c.chain.missing()
	}
	if err != nil {
		return nil, c.checkGone(ctx, err)
	}
	return entries, nil
}

// checkGone returns nil instead of an error that is due to the run's deletion, even if it has
// started again.
func (c *cursor) checkGone(ctx context.Context, err error) error {
	if !errors.Is(err, runlog.ErrCorrupt) {
		return err
	}
	found := c.store.queryOne(ctx, "SELECT num FROM runs WHERE num = $1", func(scanner) error { return nil }, c.head.num)
	if !errors.Is(found, runlog.ErrNotFound) {
		return err
	}
	c.after = c.head.last
	return nil
}

// Read implements [runlog.Log]. The error may be [runlog.ErrCorrupt].
func (s *Store) Read(ctx context.Context, run string, after uint64) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		h, err := s.findHead(ctx, run)
		if errors.Is(err, runlog.ErrNotFound) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		_, _ = s.readUpTo(ctx, run, h, after, yield)
	}
}

// readUpTo yields the entries of a run up to its head. It returns the ordinal of the last one,
// and false if yield has, or an error was yielded.
func (s *Store) readUpTo(ctx context.Context, run string, h head, after uint64, yield func([]runlog.Entry, error) bool) (last uint64, more bool) {
	for c := s.newCursor(run, h, after); !c.done(); {
		entries, err := c.next(ctx)
		if err != nil {
			yield(nil, err)
			return after, false
		}
		for batch := range slices.Chunk(entries, runlog.MaxBatchEntries) {
			after = batch[len(batch)-1].Seq
			if !yield(batch, nil) {
				return after, false
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return after, false
			}
		}
	}
	return after, true
}

// Runs implements [runlog.Log].
func (s *Store) Runs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for after, more := int64(0), true; more; {
			more = false
			var ids []string
			err := s.query(ctx, "SELECT num, id FROM runs WHERE num > $1 ORDER BY num LIMIT $2", func(row scanner) error {
				var id string
				err := row.Scan(&after, &id)
				ids, more = append(ids, fromText(id)), true
				return err
			}, after, pageRows)
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
		}
	}
}
