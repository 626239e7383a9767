package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// readers execute queries on connections that only read. Their statements are prepared once.
type readers struct {
	db      *sql.DB
	explain func(error) error
	mu      sync.Mutex
	stmts   map[string]*sql.Stmt
}

func (r *readers) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.stmts[query]; s != nil {
		return s, nil
	}
	s, err := r.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if r.stmts == nil {
		r.stmts = make(map[string]*sql.Stmt)
	}
	r.stmts[query] = s
	return s, nil
}

// query calls scan for each row, until it returns errStop.
func (r *readers) query(ctx context.Context, query string, args []any, scan func(scanner) error) (err error) {
	s, err := r.stmt(ctx, query)
	if err != nil {
		return r.fail(ctx, err)
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return r.fail(ctx, err)
	}
	for rows.Next() {
		if err = scan(rows); err != nil {
			break
		}
	}
	if err == errStop {
		err = nil
	}
	return r.fail(ctx, errors.Join(err, rows.Err(), rows.Close()))
}

// fail returns a query's error, or that of ctx which caused it.
func (r *readers) fail(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return r.explain(err)
}

var errStop = errors.New("enough rows")

func (r *readers) close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.stmts {
		err = errors.Join(err, s.Close())
	}
	r.stmts = nil
	return err
}

// A head is the end of a run's log.
type head struct {
	num    int64
	last   uint64
	digest digest
}

// findHead returns where a run ends now. The error is [runlog.ErrNotFound] if it doesn't exist.
func (s *Store) findHead(ctx context.Context, run string) (h head, err error) {
	found := false
	err = s.readers.query(ctx, "SELECT num, head, digest FROM runs WHERE id = $1", []any{toText(run)}, func(row scanner) error {
		found = true
		return row.Scan(&h.num, &h.last, &h.digest)
	})
	if err == nil && !found {
		err = runlog.ErrNotFound
	}
	return h, err
}

// isGone reports whether a run has been deleted, even if it has started again.
func (s *Store) isGone(ctx context.Context, num int64) (gone bool, err error) {
	gone = true
	err = s.readers.query(ctx, "SELECT num FROM runs WHERE num = $1", []any{num}, func(scanner) error { gone = false; return nil })
	return gone, err
}

// A cursor reads the entries of a run in pages. It checks the chain of their digests.
type cursor struct {
	store *Store
	run   string
	head  head // of what it reads
	after uint64
	// before is the digest of the run up to the row that is read next. It isn't known at
	// first, unless that row is the run's first: then the row before is read, too.
	before  digest
	known   bool
	nextRow uint64
}

func (s *Store) newCursor(run string, h head, after uint64) *cursor {
	return &cursor{store: s, run: run, head: h, after: after}
}

// Bounds of a page that is read at once.
const (
	pageRows = 256
	pageData = 1 << 20
)

// The row that has an entry is the last one that doesn't begin after it, and it is checked
// with the digest of the row before.
const (
	selectFrom  = "SELECT first, n, digest, data FROM entries WHERE run = $1 AND first >= $2 ORDER BY first LIMIT $3"
	selectStart = "SELECT first FROM entries WHERE run = $1 AND first <= $2 ORDER BY first DESC LIMIT 2"
)

// done reports whether all entries up to the head were read.
func (c *cursor) done() bool { return c.after >= c.head.last }

// next returns the entries of the next page. They are none if the run has been deleted.
func (c *cursor) next(ctx context.Context) (entries []runlog.Entry, err error) {
	if c.nextRow == 0 {
		if err := c.findStart(ctx); err != nil {
			return nil, c.checkGone(ctx, err)
		}
	}
	size := 0
	err = c.store.readers.query(ctx, selectFrom, []any{c.head.num, c.nextRow, pageRows}, func(row scanner) error {
		if c.done() || len(entries) >= runlog.MaxBatchEntries || size >= pageData {
			return errStop
		}
		var first uint64
		var n int
		var d digest
		var data []byte
		if err := row.Scan(&first, &n, &d, &data); err != nil {
			return err
		}
		size += len(data)
		entries, err = c.add(entries, first, n, d, data)
		return err
	})
	if err == nil && len(entries) == 0 {
		err = c.missing(c.after + 1)
	}
	if err != nil {
		return nil, c.checkGone(ctx, err)
	}
	return entries, nil
}

// findStart finds the row to begin with.
func (c *cursor) findStart(ctx context.Context) error {
	c.nextRow = 1
	if c.after == 0 {
		c.known = true
		return nil
	}
	return c.store.readers.query(ctx, selectStart, []any{c.head.num, c.after + 1}, func(row scanner) error { return row.Scan(&c.nextRow) })
}

// add appends the entries of a row, having checked them.
func (c *cursor) add(entries []runlog.Entry, first uint64, n int, d digest, data []byte) ([]runlog.Entry, error) {
	if !c.known && first > 1 { // only its digest counts
		c.before, c.known, c.nextRow = d, true, first+uint64(n)
		return entries, nil
	}
	switch {
	case first != max(c.nextRow, 1):
		return nil, c.missing(c.nextRow)
	case n < 1 || d != chain(c.before, c.run, first, n, sha256.Sum256(data)):
		return nil, fmt.Errorf("%w: entry %d of run %s is not what was recorded", runlog.ErrCorrupt, first, c.run)
	}
	entries, err := decodeEntries(entries, data, first, n, c.after)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.run, err)
	}
	c.before, c.known, c.nextRow = d, true, first+uint64(n)
	if last := first + uint64(n) - 1; last > c.after {
		c.after = last
	}
	if c.after == c.head.last && d != c.head.digest || c.after > c.head.last && first <= c.head.last {
		return nil, fmt.Errorf("%w: run %s doesn't end with what was recorded last", runlog.ErrCorrupt, c.run)
	}
	return entries, nil
}

func (c *cursor) missing(seq uint64) error {
	return fmt.Errorf("%w: entry %d of run %s is missing", runlog.ErrCorrupt, seq, c.run)
}

// checkGone returns nil instead of an error that is due to the run's deletion.
func (c *cursor) checkGone(ctx context.Context, err error) error {
	if !errors.Is(err, runlog.ErrCorrupt) {
		return err
	}
	if gone, goneErr := c.store.isGone(ctx, c.head.num); goneErr != nil || !gone {
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
			yield(nil, s.readError(err))
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
			yield(nil, s.readError(err))
			return after, false
		}
		for len(entries) > 0 {
			n := min(len(entries), runlog.MaxBatchEntries)
			after = entries[n-1].Seq
			if !yield(entries[:n:n], nil) {
				return after, false
			}
			entries = entries[n:]
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return after, false
			}
		}
	}
	return after, true
}

// readError returns the error of a read, which is [ErrClosed] if the store is closed.
func (s *Store) readError(err error) error {
	if s.isClosed() {
		return ErrClosed
	}
	return err
}

// Runs implements [runlog.Log].
func (s *Store) Runs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for after, more := int64(0), true; more; {
			more = false
			var ids []string
			err := s.readers.query(ctx, "SELECT num, id FROM runs WHERE num > $1 ORDER BY num LIMIT $2", []any{after, pageRows}, func(row scanner) error {
				var id string
				err := row.Scan(&after, &id)
				ids, more = append(ids, fromText(id)), true
				return err
			})
			if err != nil {
				yield("", s.readError(err))
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
