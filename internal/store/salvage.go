package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/store/sqlite"
)

// A Salvage reads what can be read of a store that is damaged, of each run the entries up to
// the first that isn't what was recorded. It works on a copy of the store's files.
type Salvage struct {
	// Runs are those of which something is known, in the order in which they were stored.
	Runs []SalvagedRun
	// Nameless is how many other runs have entries.
	Nameless int
	// LostCommits is how many transactions are missing that were made last, and -1 if that
	// can't be known.
	LostCommits int64
	// Complete means that Runs are all that there were, and each as its last transaction left it.
	Complete bool
	// State has the small state that can be read: each value is one that was recorded.
	State []smallstate.Change
	// StateComplete means that State is all that there was, as the last transaction left it.
	StateComplete bool

	reader
	db       *sql.DB
	failures int // of queries
}

// A SalvagedRun is what can be read of a run.
type SalvagedRun struct {
	ID      string
	Last    uint64 // the ordinal of its last entry; 0 if there is none
	Damage  error  // what is missing; nil if it is whole
	appends int    // how many there are up to Last
	num     int64
	digest  digest // up to Last
	cut     bool   // what follows Last can't be read
}

// maxFailures bounds the search for rows beside damaged ones.
const maxFailures = 100_000

// OpenSalvage copies the files of a store in dir to the folder scratch, as [sqlite.CopyFiles] does, and
// looks for runs in them. The error is [ErrNewerFormat], ctx's,
// the file system's, or [runlog.ErrCorrupt] if nothing can be read.
func OpenSalvage(ctx context.Context, dir, scratch string) (*Salvage, error) {
	if err := sqlite.CopyFiles(dir, scratch); err != nil {
		return nil, err
	}
	path := sqlite.Path(scratch)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: %s has no database", runlog.ErrCorrupt, dir)
	}
	// The chain of each run is proof enough; a page with a wrong checksum has right rows, too.
	db, err := sqlite.OpenFile(path, 1, "checksum_verification=off", "cell_size_check=on") // in this order: the second reads the schema
	if err != nil {
		return nil, err
	}
	s := &Salvage{reader: reader{statements: statements{on: db}, dialect: &sqliteDialect}, db: db}
	if err := s.survey(ctx, scratch); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the copy.
func (s *Salvage) Close() error {
	return errors.Join(s.closeStatements(), s.db.Close())
}

// A foundRun is a run in the table or in the index of ids.
type foundRun struct {
	ids    []string // one of them
	hasRow bool
	last   uint64 // as the row says
	digest digest
}

// survey finds what can be read.
func (s *Salvage) survey(ctx context.Context, scratch string) error {
	var format, tables int
	if err := s.query(ctx, "SELECT format FROM meta", func(row scanner) error { return row.Scan(&format) }); err == nil {
		if err := checkFormat(format); err != nil {
			return err
		}
	}
	err := s.query(ctx, "SELECT count(*) FROM sqlite_schema WHERE name IN ('runs', 'entries')", func(row scanner) error { return row.Scan(&tables) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || tables < 2 {
		return errors.Join(fmt.Errorf("%w: nothing in the database can be read", runlog.ErrCorrupt), err)
	}
	last := s.lastNumber(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'runs'", "SELECT max(num) FROM runs NOT INDEXED", "SELECT max(num) FROM runs INDEXED BY runs_started", "SELECT max(run) FROM entries")
	found := s.findRuns(ctx, last)
	for _, num := range slices.Sorted(maps.Keys(found)) {
		if r, ok := s.readBest(ctx, num, found[num]); ok {
			s.Runs = append(s.Runs, r)
		}
	}
	s.countNameless(ctx, last, found)
	s.compareSums(ctx, scratch)
	s.readState(ctx, format)
	return ctx.Err()
}

// query is [reader.query]. It counts failures.
func (s *Salvage) query(ctx context.Context, query string, scan func(scanner) error, args ...any) (err error) {
	defer func() {
		if p := recover(); p != nil { // SQLite is careful with what is damaged, and its translation must be, too
			err = fmt.Errorf("%w: %v", runlog.ErrCorrupt, p)
		}
		if err != nil {
			s.failures++
		}
	}()
	return s.reader.query(ctx, query, scan, args...)
}

// lastNumber returns the highest number that queries find.
func (s *Salvage) lastNumber(ctx context.Context, queries ...string) (last int64) {
	for _, query := range queries {
		_ = s.query(ctx, query, func(row scanner) error {
			var n sql.NullInt64
			err := row.Scan(&n)
			last = max(last, n.Int64)
			return err
		})
	}
	return last
}

// eachRange executes a query for a range of numbers, of which scan returns that of each row. If
// that fails, it does so for smaller ranges, so that what is beside the damage is read.
func (s *Salvage) eachRange(ctx context.Context, query string, from, to int64, scan func(scanner) (int64, error)) {
	for from <= to && ctx.Err() == nil && s.failures < maxFailures {
		err := s.query(ctx, query, func(row scanner) error {
			num, err := scan(row)
			if err == nil {
				from = max(from, num+1)
			}
			return err
		}, from, to)
		if err == nil || from >= to {
			return
		}
		middle := from + (to-from)/2
		s.eachRange(ctx, query, from, middle, scan)
		from = middle + 1
	}
}

// findRuns finds the runs in their table, and in the index of their ids.
func (s *Salvage) findRuns(ctx context.Context, last int64) map[int64]*foundRun {
	found := make(map[int64]*foundRun)
	add := func(num int64, id string) *foundRun {
		if found[num] == nil {
			found[num] = &foundRun{}
		}
		if id = fromText(id); !slices.Contains(found[num].ids, id) {
			found[num].ids = append(found[num].ids, id)
		}
		return found[num]
	}
	s.eachRange(ctx, "SELECT num, id, head, digest FROM runs NOT INDEXED WHERE num BETWEEN $1 AND $2 ORDER BY num", 1, last, func(row scanner) (num int64, err error) {
		var id string
		var head uint64
		var d digest
		if err = row.Scan(&num, &id, &head, &d); err == nil {
			r := add(num, id)
			r.hasRow, r.last, r.digest = true, head, d
		}
		return num, err
	})
	const byID = "SELECT num, id FROM runs INDEXED BY sqlite_autoindex_runs_1 WHERE id "
	addID := func(row scanner) (prefix int64, err error) {
		var num int64
		var id string
		if err = row.Scan(&num, &id); err == nil {
			add(num, id)
		}
		return 0, err
	}
	if err := s.query(ctx, byID+">= '' ORDER BY id", func(row scanner) error { _, err := addID(row); return err }); err != nil {
		s.eachRange(ctx, byID+"BETWEEN printf('%04x', $1) AND printf('%04x', $2) || char(1114111) ORDER BY id", 0, 1<<16-1, addID)
	}
	return found
}

// readBest reads the run with a number under that of its ids under which most can be read.
// It reports false if the number seems to be no run's.
func (s *Salvage) readBest(ctx context.Context, num int64, f *foundRun) (best SalvagedRun, ok bool) {
	for i, id := range f.ids {
		r := SalvagedRun{ID: id, num: num}
		for _, err := range s.read(ctx, &r) {
			r.Damage, r.cut = err, err != nil
		}
		switch {
		case r.cut:
		case !f.hasRow:
			r.Damage = fmt.Errorf("%w: its row can't be read, which says what follows entry %d", runlog.ErrCorrupt, r.Last)
		case r.Last != f.last || r.digest != f.digest:
			r.Damage = fmt.Errorf("%w: it has entries up to %d, and its row says %d", runlog.ErrCorrupt, r.Last, f.last)
		}
		if i == 0 || r.Last > best.Last {
			best = r
		}
	}
	return best, f.hasRow || best.Last > 0
}

// Scan yields the appends that can be read, run by run.
func (s *Salvage) Scan(ctx context.Context) iter.Seq2[runlog.AppendedEntries, error] {
	return func(yield func(runlog.AppendedEntries, error) bool) {
		for _, r := range s.Runs {
			again := SalvagedRun{ID: r.ID, num: r.num}
			for entries, err := range s.read(ctx, &again) {
				if err != nil && again.Last == r.Last {
					break // as before
				}
				if !yield(runlog.AppendedEntries{Run: r.ID, Entries: entries}, err) {
					return
				}
			}
		}
	}
}

// Count returns how many appends Scan yields.
func (s *Salvage) Count() (n int) {
	for _, r := range s.Runs {
		n += r.appends
	}
	return n
}

// read yields the appends of a run up to the first that isn't what was recorded, which is the
// error, and notes in r how far it came.
func (s *Salvage) read(ctx context.Context, r *SalvagedRun) iter.Seq2[[]runlog.Entry, error] {
	return func(yield func([]runlog.Entry, error) bool) {
		chain := chainReader{run: r.ID, next: 1}
		for more := true; more; {
			var page [][]runlog.Entry
			err := s.query(ctx, selectEntries, func(row scanner) error {
				entries, err := chain.add(nil, row, 0)
				if err == nil {
					page = append(page, entries)
				}
				return err
			}, r.num, chain.next, pageRows)
			more = err == nil && len(page) == pageRows
			r.digest = chain.digest
			for _, entries := range page {
				r.Last = entries[len(entries)-1].Seq
				r.appends++
				if !yield(entries, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
			}
		}
	}
}

// countNameless counts the runs that have entries, and neither an id nor a note that they were
// deleted.
func (s *Salvage) countNameless(ctx context.Context, last int64, found map[int64]*foundRun) {
	nameless := make(map[int64]bool)
	s.eachRange(ctx, "SELECT DISTINCT run FROM entries WHERE run BETWEEN $1 AND $2 ORDER BY run", 1, last, func(row scanner) (num int64, err error) {
		if err = row.Scan(&num); found[num] == nil {
			nameless[num] = true
		}
		return num, err
	})
	s.eachRange(ctx, "SELECT run FROM deleted WHERE run BETWEEN $1 AND $2 ORDER BY run", 1, last, func(row scanner) (num int64, err error) {
		err = row.Scan(&num)
		delete(nameless, num)
		return num, err
	})
	s.Nameless = len(nameless)
}

// compareSums compares the number of transactions with the mark, and the heads of the runs with
// their digest: if all are there, the rows that say otherwise are damaged.
func (s *Salvage) compareSums(ctx context.Context, scratch string) {
	var id []byte
	var commits int64
	var want, got digest
	s.LostCommits = -1
	if err := s.query(ctx, "SELECT id, commits, heads FROM meta", func(row scanner) error { return row.Scan(&id, &commits, &want) }); err != nil {
		return
	}
	if marked, synced, err := sqlite.ReadMark(scratch); err == nil && bytes.Equal(marked, id) {
		s.LostCommits = max(0, synced-commits)
	}
	for _, r := range s.Runs {
		got.xor(r.digest.of(r.ID))
	}
	if got != want {
		return
	}
	s.Complete, s.Nameless = true, 0
	for i := range s.Runs {
		if r := &s.Runs[i]; !r.cut {
			r.Damage = nil
		}
	}
}

// readState reads small state, and compares it with the digest of all. The format is 0 if it
// isn't known.
func (s *Salvage) readState(ctx context.Context, format int) {
	var tables int
	if err := s.query(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'state'", func(row scanner) error { return row.Scan(&tables) }); err != nil {
		return
	}
	if tables == 0 {
		s.StateComplete = format > 0 && format < stateFormat
		return
	}
	var all digest
	last := s.lastNumber(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'state'", "SELECT max(num) FROM state NOT INDEXED")
	s.eachRange(ctx, selectState+" NOT INDEXED WHERE num BETWEEN $1 AND $2 ORDER BY num", 1, last, func(row scanner) (num int64, err error) {
		var r stateRow
		if err = r.scan(row); err == nil {
			all.xor(r.digest)
			s.State = append(s.State, smallstate.Change{Bucket: fromText(r.bucket), Key: fromText(r.key), New: r.value})
		} else if errors.Is(err, errOtherValue) {
			err = nil
		}
		return r.num, err
	})
	var want nullDigest
	err := s.query(ctx, "SELECT state FROM meta", func(row scanner) error { return row.Scan(&want) })
	s.StateComplete = err == nil && all == want.digest
}
