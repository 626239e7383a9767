package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store/postgres"
)

// Bounds of a group, the requests of one transaction. There is no delay: while one group is
// committed, the next one gathers.
const (
	maxGroup      = 256
	maxGroupBytes = 4 << 20
)

// A writer does all that changes the database, in groups. Its goroutine alone uses it, but for
// gate and commits.
type writer struct {
	*statements // of conn
	store       *Store
	db          *sql.DB
	conn        *sql.Conn           // nil after a failure
	rows        map[string]*liveRun // that were used last, by id
	id          []byte              // of the store
	// synced says that commits sync the file.
	synced bool
	heads  digest
	values nullDigest // of all rows of state
	// garbage means that entries of deleted runs, or free pages, are left.
	garbage     bool
	lastCleanup time.Time
	// backend is what executes the statements of conn, in another process, and lost one that may be
	// committing still, although its connection was lost.
	backend, lost postgres.Backend
	// fault, in tests, fails statements before or after they are executed.
	fault func(query string, after bool) error

	commits atomic.Int64
	gate    sync.Mutex // held during a transaction
}

func newWriter(s *Store, db *sql.DB) *writer {
	return &writer{store: s, db: db, garbage: true}
}

// start connects, migrates the database, and reads what the writer keeps.
func (w *writer) start(ctx context.Context) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, w.conn, w.store.dialect); err != nil {
		return err
	}
	return w.readMeta(ctx)
}

// connect connects again after a failure, of which it may not be known what was committed.
func (w *writer) connect(ctx context.Context) (err error) {
	if w.conn != nil {
		return nil
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	w.statements, w.rows = &statements{on: w.conn}, make(map[string]*liveRun)
	if w.store.isShared() {
		if w.backend, err = postgres.BackendOf(ctx, w.conn); err == nil && w.lost != (postgres.Backend{}) {
			err = w.lost.AwaitEnd(ctx, w.conn)
		}
		if err != nil {
			w.disconnect()
			return err
		}
		w.lost = postgres.Backend{}
	}
	if w.id == nil {
		return nil
	}
	if err = w.readMeta(ctx); err != nil {
		w.disconnect()
	}
	return err
}

func (w *writer) readMeta(ctx context.Context) error {
	var commits int64
	if err := w.conn.QueryRowContext(ctx, "SELECT id, commits, heads, state FROM meta").Scan(&w.id, &commits, &w.heads, &w.values); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("%w: it has no number of commits", runlog.ErrCorrupt)
		}
		return err
	}
	w.commits.Store(commits)
	if f := w.store.files; f != nil {
		return f.CompareMark(w.id, commits)
	}
	return nil
}

// run does requests until the store closes.
func (w *writer) run() {
	defer close(w.store.writerDone)
	defer w.disconnect()
	var group []*request
	for {
		q, ok := w.next()
		if !ok {
			return
		}
		group = w.gather(append(group[:0], q))
		w.do(group)
		clear(group)
	}
}

// next returns the next request, and cleans up while there is none. It reports false when the
// store closes.
func (w *writer) next() (*request, bool) {
	for {
		if w.garbage && time.Since(w.lastCleanup) > cleanupInterval {
			w.garbage = w.cleanUp()
			w.lastCleanup = time.Now()
		}
		var idle <-chan time.Time
		if w.garbage {
			idle = time.After(cleanupPause)
		}
		select {
		case <-w.store.closing:
			return nil, false
		case q := <-w.store.queue:
			return q, true
		case <-idle:
			w.lastCleanup = time.Time{}
		}
	}
}

// gather adds the requests that wait to a group.
func (w *writer) gather(group []*request) []*request {
	for bytes := len(group[0].data); len(group) < maxGroup && bytes < maxGroupBytes; {
		select {
		case q := <-w.store.queue:
			group = append(group, q)
			bytes += len(q.data)
		default:
			return group
		}
	}
	return group
}

// do does the requests of a group in one transaction; if one of them is why that fails, in one
// each.
func (w *writer) do(requests []*request) {
	w.gate.Lock()
	defer w.gate.Unlock()
	err := w.tryGroup(requests)
	if len(requests) == 1 || !errors.Is(err, errStateChanged) && (!errors.Is(err, runlog.ErrCorrupt) || errors.Is(err, runlog.ErrUncertain)) {
		w.finish(requests, err)
		return
	}
	for i := range requests {
		w.finish(requests[i:i+1], w.tryGroup(requests[i:i+1]))
	}
}

// finish tells the requests' callers the outcome.
func (w *writer) finish(requests []*request, err error) {
	for _, q := range requests {
		if err != nil {
			q.last, q.applied, q.err = 0, false, err
			if q.run != "" && !q.deletes {
				q.err = fmt.Errorf("appending to run %s: %w", q.run, err)
			}
		}
		close(q.done)
	}
}

// maxTries bounds how often a transaction is repeated that another one's has failed.
const maxTries = 5

// tryGroup does requests in a transaction, and notes whether that failed.
func (w *writer) tryGroup(requests []*request) error {
	g := &group{writer: w, tally: newTally()}
	err := g.do(requests)
	for tries := 1; err != nil && !g.committing && w.store.dialect.mayRepeat(err) && tries < maxTries; tries++ {
		w.disconnect()
		g = &group{writer: w, tally: newTally()}
		err = g.do(requests)
	}
	if err == nil {
		w.store.failure.Store(nil)
		g.publish()
		return nil
	}
	if g.committing {
		w.lost = w.backend
	}
	w.disconnect()
	if errors.Is(err, errStateChanged) {
		return err
	}
	err = w.store.explain(err)
	uncertain := false
	if g.committing {
		committed, findErr := w.findCommitted(requests, w.commits.Load()+1)
		for began := time.Now(); findErr != nil && w.store.isShared() && !w.store.isClosed() && time.Since(began) < maxUncertain; {
			time.Sleep(minReconnect / 10)
			committed, findErr = w.findCommitted(requests, 0)
		}
		if findErr != nil {
			uncertain = true
		} else if committed {
			g.publish()
			return nil
		}
	}
	switch {
	case uncertain:
		err = fmt.Errorf("%w: %w", runlog.ErrUncertain, err)
	case !errors.Is(err, runlog.ErrDiskFull) && !errors.Is(err, runlog.ErrCorrupt):
		err = fmt.Errorf("%w: %w", runlog.ErrUnavailable, err)
	}
	w.store.failure.Store(&err)
	return err
}

// disconnect drops the connection after a failure, and what is known by it.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	_ = w.closeStatements()
	_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK") // fails if there is none
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = w.conn.Close()
	w.conn, w.synced = nil, false
}

// maxUncertain is how long a writer tries to reach a database again that may have committed.
const maxUncertain = 10 * time.Second

// findCommitted reports whether the requests were committed although that failed. They were to be
// the transaction with a number.
func (w *writer) findCommitted(requests []*request, number int64) (bool, error) {
	ctx, cancel := w.statementContext()
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return false, err
	}
	if w.store.files != nil {
		return w.commits.Load() >= number, nil
	}
	for _, q := range requests { // of appends, tokens tell; of changes, only their values
		if len(q.entries) == 0 || q.err != nil {
			continue
		}
		var n int
		err := w.conn.QueryRowContext(ctx, "SELECT count(*) FROM entries e JOIN runs r ON r.num = e.run WHERE r.id = $1 AND e.first = $2 AND e.token = $3",
			toText(q.run), q.entries[0].Seq, q.token).Scan(&n)
		return n > 0, err
	}
	for _, q := range requests {
		if q.applied {
			return w.isApplied(q)
		}
	}
	return false, nil // deletions, which may be repeated
}

// exec executes a statement and returns how many rows it changed.
func (w *writer) exec(query string, args ...any) (int64, error) {
	ctx, cancel := w.statementContext()
	defer cancel()
	s, err := w.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	if w.fault != nil {
		if err := w.fault(query, false); err != nil {
			return 0, err
		}
	}
	res, err := s.ExecContext(ctx, args...)
	if err == nil && w.fault != nil {
		err = w.fault(query, true)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// queryRow executes a query for one row and scans it.
func (w *writer) queryRow(query string, scan func(scanner) error, args ...any) error {
	ctx, cancel := w.statementContext()
	defer cancel()
	s, err := w.prepare(ctx, query)
	if err != nil {
		return err
	}
	return scan(s.QueryRowContext(ctx, args...))
}

// statementContext returns the context of a statement. One that another machine's database doesn't
// answer must not hold up the writer for good.
func (w *writer) statementContext() (context.Context, context.CancelFunc) {
	if d := w.store.dialect.timeout; d > 0 {
		return context.WithTimeout(context.Background(), d)
	}
	return context.Background(), func() {}
}
