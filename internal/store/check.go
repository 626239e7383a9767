package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return Report{}, s.fail(ctx, err)
	}
	defer conn.Close()
	c := &checker{
		reader: reader{statements: statements{on: conn}, dialect: s.dialect, closing: s.closing}, store: s, sums: newTally(),
		Report: Report{Damaged: make(map[string]string), MissingFiles: make(map[string][]string)},
	}
	defer c.closeStatements()
	if _, err := conn.ExecContext(ctx, s.dialect.beginRead); err != nil {
		return Report{}, s.fail(ctx, err)
	}
	for _, step := range []func(context.Context) error{c.checkStructure, c.checkRuns, c.checkTables, c.checkState} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil || s.isClosed() {
				return c.Report, s.fail(ctx, err)
			}
			c.Problems = append(c.Problems, err.Error())
		}
	}
	_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // fails if damage has ended the transaction
	return c.Report, nil
}

// A checker reads one snapshot. It sums up what the tables beside runs and entries must have.
type checker struct {
	reader
	Report
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

// storedRun is a row as it is stored.
type storedRun struct {
	num    int64
	values []any
}

func (c *checker) checkRuns(ctx context.Context) error {
	for after := int64(0); ; {
		var page []storedRun
		err := c.query(ctx, "SELECT num, "+valueColumns+" FROM runs WHERE num > $1 ORDER BY num LIMIT $2", func(row scanner) error {
			r := storedRun{values: make([]any, len(columnNames(valueColumns)))}
			err := row.Scan(append([]any{&r.num}, pointersTo(r.values)...)...)
			page = append(page, r)
			return err
		}, after, pageRows)
		if err != nil {
			return fmt.Errorf("reading the runs after number %d: %w", after, err)
		}
		for _, r := range page {
			if err := ctx.Err(); err != nil || c.isClosed() {
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
		err = compareRow(stored, r)
	}
	if err != nil {
		c.Damaged[r.ID] = err.Error()
	}
	c.heads.xor(r.digest.of(r.ID))
	c.sums.change(nil, r.now())
	for _, a := range r.Asks {
		c.asks.xor(digestRow(toText(r.Owner()), toNanos(a.AskedAt), r.num, int64(a.Seq), toInt(a.Audience != nil), isCalled(a)))
		for _, who := range namedBy(a.Audience) {
			c.audience.xor(digestRow(who, toNanos(a.AskedAt), r.num, int64(a.Seq)))
		}
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

// compareRow compares a row with what its entries lead to.
func compareRow(stored storedRun, r *liveRun) error {
	fold, err := r.fold()
	if err != nil {
		return err
	}
	last := len(stored.values) - 1
	if raw, ok := stored.values[last].([]byte); ok {
		stored.values[last] = reencode(raw)
	}
	for i, want := range r.values(reencode(fold)) {
		if got := stored.values[i]; fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want, want) {
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
	for _, t := range []struct {
		columns, problem string
		want             digest
	}{
		{"owner, asked, run, seq, restricted, called FROM asks", "the open questions are not listed as the entries say", c.asks},
		{"who, asked, run, seq FROM audience", "it is not listed as the entries say who may answer", c.audience},
		{"e.run, e.first FROM entries e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.num = e.run) AND NOT EXISTS (SELECT 1 FROM deleted d WHERE d.run = e.run)", "appends belong to no run", digest{}},
	} {
		var got digest
		err := c.query(ctx, "SELECT "+t.columns, func(row scanner) error {
			list, _, _ := strings.Cut(t.columns, " FROM ")
			values := make([]any, len(columnNames(list)))
			err := row.Scan(pointersTo(values)...)
			got.xor(digestRow(values...))
			return err
		})
		if err != nil {
			return err
		}
		c.compare(got, t.want, t.problem)
	}
	if err := c.checkCounts(ctx); err != nil || c.store.files == nil {
		return err
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

// checkCounts compares the counts with what they should be.
func (c *checker) checkCounts(ctx context.Context) error {
	got := newTally()
	err := c.query(ctx, selectCounts, func(row scanner) error {
		var owner string
		n := new(counts)
		err := row.Scan(n.dest(&owner)...)
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
