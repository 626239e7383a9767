package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runstate"
)

// A Report is what Check has found.
type Report struct {
	Runs, Entries int
	// Damaged has what is wrong with runs, by their ids.
	Damaged map[string]string
	// Problems are what is wrong beyond single runs.
	Problems []string
	// MissingFiles has the digests of the files that runs lack, by their ids. No copy of the
	// runs has them, so that the runs are whole nevertheless.
	MissingFiles map[string][]string
}

// Whole reports whether nothing is wrong.
func (r *Report) Whole() bool { return len(r.Damaged) == 0 && len(r.Problems) == 0 }

// Check reads everything: the database's own structure, the chain of each run, each row
// against a new fold of its entries, the sums, and small state. Appends go on meanwhile, but the write-ahead
// log grows. The error is ctx's, or that nothing could be read.
func (s *Store) Check(ctx context.Context) (Report, error) {
	conn, err := s.readers.db.Conn(ctx)
	if err != nil {
		return Report{}, s.readError(s.readers.fail(ctx, err))
	}
	defer conn.Close()
	c := &checker{
		store: s, conn: conn, Report: Report{Damaged: make(map[string]string), MissingFiles: make(map[string][]string)},
		sums: newTally(),
	}
	if _, err := conn.ExecContext(ctx, s.dialect.beginRead); err != nil {
		return Report{}, s.readError(s.readers.fail(ctx, err))
	}
	for _, step := range []func(context.Context) error{c.checkStructure, c.checkRuns, c.checkSums, c.checkState} {
		if err := s.readers.fail(ctx, step(ctx)); err != nil {
			if ctx.Err() != nil || s.isClosed() {
				return c.Report, s.readError(err)
			}
			c.Problems = append(c.Problems, err.Error())
		}
	}
	_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // fails if damage has ended the transaction
	return c.Report, nil
}

// A checker reads one snapshot.
type checker struct {
	Report
	store *Store
	conn  *sql.Conn
	heads digest
	sums  tally
	asks  int
	named int // rows of audience
}

func (c *checker) query(ctx context.Context, query string, scan func(scanner) error, args ...any) error {
	rows, err := c.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = scan(rows)
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

func (c *checker) checkStructure(ctx context.Context) error {
	if c.store.dialect.integrity == "" {
		return nil
	}
	return c.query(ctx, c.store.dialect.integrity, func(row scanner) error {
		var text string
		err := row.Scan(&text)
		if text != "ok" {
			c.Problems = append(c.Problems, text)
		}
		return err
	})
}

// storedRun is a row as it is stored.
type storedRun struct {
	num    int64
	values []any
}

func (c *checker) checkRuns(ctx context.Context) error {
	for after := int64(0); ; {
		var page []storedRun
		err := c.query(ctx, "SELECT num, "+valueColumns+" FROM runs WHERE num > $1 ORDER BY num LIMIT $2", func(row scanner) error {
			r := storedRun{values: make([]any, 16)}
			dest := []any{&r.num}
			for i := range r.values {
				dest = append(dest, &r.values[i])
			}
			page = append(page, r)
			err := row.Scan(dest...)
			page[len(page)-1].num = r.num
			return err
		}, after, pageRows)
		if err != nil {
			return fmt.Errorf("reading the runs after number %d: %w", after, err)
		}
		for _, r := range page {
			if err := ctx.Err(); err != nil || c.store.isClosed() {
				return err // Close waits
			}
			after = r.num
			c.checkRun(ctx, r)
		}
		if len(page) == 0 {
			return nil
		}
	}
}

// checkRun checks a run's row against its entries.
func (c *checker) checkRun(ctx context.Context, stored storedRun) {
	c.Runs++
	text, _ := stored.values[0].(string)
	r := &liveRun{run: run{Row: runlist.Row{ID: fromText(text)}, num: stored.num}}
	err := c.foldEntries(ctx, r)
	if err == nil {
		err = c.compareRow(stored, r)
	}
	if err == nil {
		err = c.checkAsks(ctx, r)
	}
	if err != nil {
		c.Damaged[r.ID] = c.store.dialect.explain(err).Error()
	}
	c.heads.xor(r.digest.of(r.ID))
	c.sums.change(nil, r.now())
}

// foldEntries reads the entries of a run, with their chain.
func (c *checker) foldEntries(ctx context.Context, r *liveRun) error {
	next := uint64(1)
	return c.query(ctx, "SELECT first, n, digest, data FROM entries WHERE run = $1 ORDER BY first", func(row scanner) error {
		var first uint64
		var n int
		var d digest
		var data []byte
		if err := row.Scan(&first, &n, &d, &data); err != nil {
			return err
		}
		r.digest = chain(r.digest, r.ID, first, n, sha256.Sum256(data))
		if first != next || d != r.digest {
			return fmt.Errorf("%w: entry %d is not what was recorded", runlog.ErrCorrupt, next)
		}
		entries, err := decodeEntries(nil, data, first, n, 0)
		for _, e := range entries {
			loaded := c.store.loadBlob(r.ID, e)
			if e.Blob != "" && c.store.options.Blobs != nil && loaded.Data == nil {
				return fmt.Errorf("%w: the data of entry %d, a file, can't be read", runlog.ErrCorrupt, e.Seq)
			}
			r.apply(loaded)
			err = errors.Join(err, c.findFiles(r.ID, loaded))
		}
		next += uint64(n)
		c.Entries += n
		return err
	}, r.num)
}

// findFiles notes a file to which an entry refers and that doesn't exist.
func (c *checker) findFiles(run string, e runlog.Entry) error {
	if c.store.options.Blobs == nil {
		return nil
	}
	digests, err := e.Blobs()
	for _, d := range digests {
		if found, err := c.store.options.Blobs.Has(run, d); err != nil {
			return err
		} else if !found {
			c.MissingFiles[run] = append(c.MissingFiles[run], d)
		}
	}
	return err
}

// compareRow compares a row with what its entries lead to.
func (c *checker) compareRow(stored storedRun, r *liveRun) error {
	fold, err := r.fold()
	if err != nil {
		return err
	}
	fold = reencode(fold)
	if raw, ok := stored.values[len(stored.values)-1].([]byte); ok {
		stored.values[len(stored.values)-1] = reencode(raw)
	}
	names := columnNames(valueColumns)
	for i, want := range r.values(fold) {
		if got := stored.values[i]; fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want, want) {
			return fmt.Errorf("%w: its %s is %.80q, but its entries say %.80q", runlog.ErrCorrupt, names[i], fmt.Sprintf("%s", got), fmt.Sprintf("%s", want))
		}
	}
	return nil
}

// reencode decodes and encodes a fold: what isn't UTF-8 is U+FFFD only then.
func reencode(raw []byte) []byte {
	var f folded
	if err := json.Unmarshal(raw, &f); err != nil {
		return raw
	}
	again, err := json.Marshal(f)
	if err != nil {
		return raw
	}
	return again
}

// checkAsks checks the rows of a run's open questions.
func (c *checker) checkAsks(ctx context.Context, r *liveRun) error {
	for _, a := range r.Asks {
		c.asks++
		var restricted, called int64
		found := false
		err := c.query(ctx, "SELECT restricted, called FROM asks WHERE owner = $1 AND asked = $2 AND run = $3 AND seq = $4", func(row scanner) error {
			found = true
			return row.Scan(&restricted, &called)
		}, toText(r.Owner()), toNanos(a.AskedAt), r.num, a.Seq)
		if err == nil && (!found || restricted != toInt(a.Audience != nil) || called != isCalled(a)) {
			err = fmt.Errorf("%w: question %d is not listed as its entries say", runlog.ErrCorrupt, a.Seq)
		}
		if err == nil {
			err = c.checkAudience(ctx, r, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkAudience(ctx context.Context, r *liveRun, a *runstate.Ask) error {
	for _, who := range namedBy(a.Audience) {
		c.named++
		found := false
		err := c.query(ctx, "SELECT seq FROM audience WHERE who = $1 AND asked = $2 AND run = $3 AND seq = $4", func(scanner) error { found = true; return nil },
			who, toNanos(a.AskedAt), r.num, a.Seq)
		if err == nil && !found {
			err = fmt.Errorf("%w: question %d is not listed for %s", runlog.ErrCorrupt, a.Seq, who)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSums compares the number of rows, the counts and the digest of heads, unless runs are
// damaged, which are not in the sums.
func (c *checker) checkSums(ctx context.Context) error {
	if len(c.Damaged) > 0 {
		return nil
	}
	for _, check := range []struct {
		query, what string
		want        int
	}{
		{"SELECT count(*) FROM asks", "open questions are listed", c.asks},
		{"SELECT count(*) FROM audience", "people and roles are listed who may answer", c.named},
		{"SELECT count(*) FROM entries e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.num = e.run) AND NOT EXISTS (SELECT 1 FROM deleted d WHERE d.run = e.run)", "appends belong to no run", 0},
	} {
		var n int
		if err := c.query(ctx, check.query, func(row scanner) error { return row.Scan(&n) }); err != nil {
			return err
		}
		if n != check.want {
			c.Problems = append(c.Problems, fmt.Sprintf("%d %s, and %d should", n, check.what, check.want))
		}
	}
	if err := c.checkCounts(ctx); err != nil {
		return err
	}
	if c.store.files == nil {
		return nil
	}
	var heads digest
	if err := c.query(ctx, "SELECT heads FROM meta", func(row scanner) error { return row.Scan(&heads) }); err != nil {
		return err
	}
	if heads != c.heads {
		c.Problems = append(c.Problems, "a run is not in its latest state, is missing, or was not recorded here")
	}
	return nil
}

// checkCounts compares the counts with what they should be.
func (c *checker) checkCounts(ctx context.Context) error {
	got := newTally()
	err := c.query(ctx, "SELECT owner, "+strings.Join(countColumns, ", ")+" FROM counts", func(row scanner) error {
		var owner string
		n := new(counts)
		err := row.Scan(append([]any{&owner}, n.dest()...)...)
		got.owners[owner] = n
		return err
	})
	if err != nil {
		return err
	}
	err = c.query(ctx, "SELECT name, unfinished FROM photons", func(row scanner) error {
		var name string
		var n int64
		err := row.Scan(&name, &n)
		got.photons[name] = n
		return err
	})
	got.trim()
	c.sums.trim()
	if err == nil && !(maps.EqualFunc(got.owners, c.sums.owners, func(a, b *counts) bool { return *a == *b }) && maps.Equal(got.photons, c.sums.photons)) {
		c.Problems = append(c.Problems, "the counts of runs and questions are wrong")
	}
	return err
}
