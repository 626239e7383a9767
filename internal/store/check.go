package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
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
// against a new fold of the entries, the sums, and small state. Appends go on meanwhile, but the
// write-ahead log grows. The error is ctx's, or that nothing could be read.
func (s *Store) Check(ctx context.Context) (Report, error) {
	report := Report{Damaged: make(map[string]string), MissingFiles: make(map[string][]string)}
	err := s.Snapshot(ctx, func(at *Store) error {
		c := &checker{reader: at.reader, store: s, sums: newTally(), Report: &report}
		for _, step := range []func(context.Context) error{c.checkStructure, c.checkRuns, c.checkTables, c.checkState} {
			if err := step(ctx); err != nil {
				if ctx.Err() != nil || s.isClosed() {
					return s.fail(ctx, err)
				}
				c.Problems = append(c.Problems, err.Error())
			}
		}
		return nil
	})
	return report, err
}

var errSnapshot = errors.New("what the store was at a moment can't be changed")

// Snapshot calls do with the store as it is at one moment: runs, small state, and, in PostgreSQL,
// files. It can't be changed or followed, and one goroutine may use it, until do returns. Appends go
// on meanwhile, but SQLite's write-ahead log grows, and PostgreSQL removes no old rows.
func (s *Store) Snapshot(ctx context.Context, do func(*Store) error) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return s.fail(ctx, err)
	}
	defer conn.Close()
	at := &Store{readers: s.readers, options: s.options, logger: s.logger, closing: s.closing, files: s.files}
	at.lists = lists{&reader{statements: statements{on: conn}, dialect: s.dialect, closing: s.closing}}
	defer at.closeStatements()
	if _, err := conn.ExecContext(ctx, s.dialect.beginRead); err != nil {
		return s.fail(ctx, err)
	}
	err = do(at)
	_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // fails if damage has ended the transaction
	return err
}

// A checker reads one snapshot. It sums up what the tables beside runs and entries must have.
type checker struct {
	*reader
	*Report
	store          *Store
	sums           tally
	heads          digest // of the runs
	asks, audience digest // of the rows
}

func (c *checker) checkStructure(ctx context.Context) error {
	if c.dialect.integrity == "" {
		return nil
	}
	return c.query(ctx, c.dialect.integrity, func(row scanner) error {
		var text string
		err := row.Scan(&text)
		if text != "ok" {
			c.Problems = append(c.Problems, text)
		}
		return err
	})
}

func (c *checker) checkRuns(ctx context.Context) error {
	for after := int64(0); ; {
		var page [][]any
		err := c.queryValues(ctx, "num, "+valueColumns+" FROM runs WHERE num > $1 ORDER BY num LIMIT $2", func(row []any) {
			page = append(page, row)
		}, after, pageRows)
		if err != nil {
			return fmt.Errorf("reading the runs after number %d: %w", after, err)
		}
		for _, row := range page {
			if err := ctx.Err(); err != nil || c.isClosed() {
				return err // Close waits
			}
			after, _ = row[0].(int64)
			c.checkRun(ctx, after, row[1:])
		}
		if len(page) == 0 {
			return nil
		}
	}
}

// checkRun checks a run's row against its entries.
func (c *checker) checkRun(ctx context.Context, num int64, row []any) {
	c.Runs++
	text, _ := row[0].(string)
	r := &liveRun{run: run{Row: runlist.Row{ID: fromText(text)}, num: num}}
	err := c.foldEntries(ctx, r)
	if err == nil {
		err = compareRow(row, r)
	}
	if err != nil {
		c.Damaged[r.ID] = err.Error()
	}
	c.heads.xor(r.digest.of(r.ID))
	now := r.now()
	c.sums.change(nil, now)
	for _, a := range now.asks {
		c.asks.xor(digestRow(a.owner, a.asked, num, a.seq, a.restricted, a.modelCalled))
	}
	for _, a := range now.audience {
		c.audience.xor(digestRow(a.who, a.asked, num, a.seq))
	}
}

// foldEntries reads the entries of a run, with their chain.
func (c *checker) foldEntries(ctx context.Context, r *liveRun) error {
	chain := chainReader{run: r.ID, next: 1}
	return c.query(ctx, "SELECT first, n, digest, data FROM entries WHERE run = $1 ORDER BY first", func(row scanner) error {
		entries, err := chain.add(nil, row, 0)
		for _, e := range entries {
			loaded := c.store.loadBlob(r.ID, e)
			if e.Blob != "" && c.store.options.Blobs != nil && loaded.Data == nil {
				return fmt.Errorf("%w: the data of entry %d, a file, can't be read", runlog.ErrCorrupt, e.Seq)
			}
			r.apply(loaded)
			err = errors.Join(err, c.findFiles(r.ID, loaded))
		}
		r.digest = chain.digest
		c.Entries += len(entries)
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

// compareRow compares the values of a row with what its entries lead to.
func compareRow(row []any, r *liveRun) error {
	fold, err := r.fold()
	if err != nil {
		return err
	}
	if raw, ok := row[len(row)-1].([]byte); ok {
		row[len(row)-1] = reencode(raw)
	}
	for i, want := range r.values(reencode(fold)) {
		if got := row[i]; fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want, want) {
			return fmt.Errorf("%w: its %s is %.80q, but its entries say %.80q", runlog.ErrCorrupt, columnNames(valueColumns)[i], fmt.Sprintf("%s", got), fmt.Sprintf("%s", want))
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

// checkTables compares the tables beside runs and entries with what the entries lead to, unless
// runs are damaged.
func (c *checker) checkTables(ctx context.Context) error {
	if len(c.Damaged) > 0 {
		return nil
	}
	var owners, unfinished digest
	c.sums.trim()
	for owner, n := range c.sums.owners {
		owners.xor(digestRow(n.row(owner)...))
	}
	for h, n := range c.sums.unfinished {
		unfinished.xor(digestRow(h.Worker, h.Photon, n))
	}
	const counted = "the counts of runs and questions are wrong"
	for _, t := range []struct {
		columns, problem string
		want             digest
	}{
		{"owner, asked, run, seq, restricted, called FROM asks", "the open questions are not listed as the entries say", c.asks},
		{"who, asked, run, seq FROM audience", "it is not listed as the entries say who may answer", c.audience},
		{"e.run, e.first FROM entries e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.num = e.run) AND NOT EXISTS (SELECT 1 FROM deleted d WHERE d.run = e.run)", "appends belong to no run", digest{}},
		{"owner, " + strings.Join(countColumns, ", ") + " FROM counts WHERE " + strings.Join(countColumns, " <> 0 OR ") + " <> 0", counted, owners},
		{"worker, photon, runs FROM unfinished WHERE runs <> 0", counted, unfinished},
	} {
		var got digest
		if err := c.queryValues(ctx, t.columns, func(row []any) { got.xor(digestRow(row...)) }); err != nil {
			return err
		}
		c.compare(got, t.want, t.problem)
	}
	if c.store.files == nil {
		return nil
	}
	return c.query(ctx, "SELECT heads FROM meta", func(row scanner) error {
		var heads digest
		err := row.Scan(&heads)
		c.compare(heads, c.heads, "a run is not in its latest state, is missing, or was not recorded here")
		return err
	})
}

func (c *checker) compare(got, want digest, problem string) {
	if got != want {
		c.Problems = append(c.Problems, problem)
	}
}

// queryValues calls do with the values of each row that "SELECT columns" finds.
func (c *checker) queryValues(ctx context.Context, columns string, do func(row []any), args ...any) error {
	list, _, _ := strings.Cut(columns, " FROM ")
	return c.query(ctx, "SELECT "+columns, func(row scanner) error {
		values := make([]any, len(columnNames(list)))
		dest := make([]any, len(values))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := row.Scan(dest...); err != nil {
			return err
		}
		do(values)
		return nil
	}, args...)
}

// checkState checks each row of small state, and whether it is all rows.
func (c *checker) checkState(ctx context.Context) error {
	var all digest
	err := c.query(ctx, selectState, func(row scanner) error {
		var r stateRow
		err := r.scan(row)
		all.xor(r.digest)
		return err
	})
	if err != nil || c.store.files == nil {
		return err
	}
	return c.query(ctx, "SELECT state FROM meta", func(row scanner) error {
		var want nullDigest
		err := row.Scan(&want)
		c.compare(all, want.digest, "what was accepted, signed out or told is not in its latest state, or some of it is missing")
		return err
	})
}
