package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/photon-beam/beam/internal/runlist"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/store/postgres"
)

// A group is a transaction of the writer.
type group struct {
	*writer
	changed    []*liveRun // in the order of their first change
	tally      tally
	published  []func()
	noted      postgres.Notice // of the runs that changed
	sync       bool
	bytes      int
	wrote      bool // something
	committing bool // the outcome isn't known from here on
}

// maxRows is how many rows the writer keeps from one group to the next.
const maxRows = 2048

// A liveRun is a row with what the database has of it.
type liveRun struct {
	run
	digest digest
	saved  *savedRun // nil if it has no row yet

	appends []*request // that are not in the database yet
}

// A savedRun is what the rows of a run say.
type savedRun struct {
	columns
	worker   string // which claimed the run last
	head     uint64
	digest   digest
	asks     []askRow
	audience []audienceRow
}

// now returns what the rows of the run are to say.
func (r *liveRun) now() *savedRun {
	s := &savedRun{columns: r.columns(), worker: toText(r.Worker), head: r.Last, digest: r.digest}
	for _, a := range r.Asks {
		asked, seq := toNanos(a.AskedAt), int64(a.Seq)
		s.asks = append(s.asks, askRow{s.owner, asked, seq, toInt(a.Audience != nil), toInt(a.Call > 0)})
		for _, who := range namedBy(a.Audience) {
			s.audience = append(s.audience, audienceRow{who, asked, seq})
		}
	}
	return s
}

// do does the requests and commits.
func (g *group) do(requests []*request) error {
	if err := g.connect(context.Background()); err != nil {
		return err
	}
	if len(g.rows) > maxRows {
		clear(g.rows)
	}
	for _, q := range requests {
		g.bytes += len(q.data)
	}
	if err := g.begin(requests); err != nil {
		return err
	}
	for _, q := range requests {
		q.err = nil
		var err error
		switch {
		case q.deletes:
			err = g.deleteRun(q.run)
		case len(q.changes) > 0:
			err = g.applyChanges(q)
		default:
			q.last, q.err, err = g.append(q)
		}
		if err != nil {
			return err
		}
	}
	if g.store.isShared() { // all lock rows in the same order
		slices.SortStableFunc(g.changed, func(a, b *liveRun) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, r := range g.changed {
		if err := g.flush(r); err != nil {
			return err
		}
	}
	return g.commit()
}

// begin begins the transaction, whose commit is synced if one of the requests needs that.
func (g *group) begin(requests []*request) error {
	g.sync = slices.ContainsFunc(requests, func(q *request) bool { return q.sync })
	if g.store.files != nil && g.synced != g.sync {
		mode := "NORMAL" // checkpoints sync
		if g.sync {
			mode = "FULL"
		}
		if _, err := g.exec("PRAGMA synchronous=" + mode); err != nil {
			return err
		}
		g.synced = g.sync
	}
	_, err := g.exec(g.store.dialect.begin)
	return err
}

func (g *group) commit() error {
	if !g.wrote {
		_, err := g.exec("ROLLBACK")
		return err
	}
	if err := g.writeTally(); err != nil {
		return err
	}
	if err := g.notify(); err != nil {
		return err
	}
	commits := g.commits.Load() + 1
	if g.store.files != nil {
		if _, err := g.exec("UPDATE meta SET commits = $1, heads = $2, state = $3", commits, g.heads[:], g.values.digest[:]); err != nil {
			return err
		}
	}
	g.committing = true
	if _, err := g.exec("COMMIT"); err != nil {
		return err
	}
	g.commits.Store(commits)
	if g.store.files != nil {
		g.store.files.Committed(commits, g.sync, g.bytes)
	}
	return nil
}

// load returns a run, or nil if it doesn't exist.
func (g *group) load(id string) (*liveRun, error) {
	if r := g.rows[id]; r != nil {
		return r, nil
	}
	r := &liveRun{}
	err := g.queryRow("SELECT "+runColumns+" FROM runs r WHERE r.id = $1", func(row scanner) error {
		found, d, err := scanRun(row)
		if err == nil {
			r.run, r.digest = *found, d
		}
		return err
	}, toText(id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.saved = r.now()
	g.rows[r.ID] = r
	return r, nil
}

// append applies an append to its run. failed is why it can't be; err is the database's.
func (g *group) append(q *request) (last uint64, failed, err error) {
	r, err := g.load(q.run)
	if r != nil && r.Last < q.after && g.store.isShared() && len(r.appends) == 0 { // another process has appended
		delete(g.rows, q.run)
		r, err = g.load(q.run)
	}
	switch {
	case err != nil:
		return 0, nil, err
	case r == nil && q.after > 0:
		return 0, runlog.ErrNotFound, nil
	case r == nil && len(q.entries) == 0:
		return 0, nil, nil
	case r == nil:
		r = &liveRun{run: run{Row: runlist.Row{ID: q.run}}}
		g.rows[r.ID] = r
	case r.Last != q.after:
		return r.Last, &runlog.ConflictError{Run: q.run, After: q.after, Last: r.Last}, nil
	}
	if len(q.entries) == 0 {
		return r.Last, nil, nil
	}
	if len(r.appends) == 0 {
		g.changed = append(g.changed, r)
	}
	for _, e := range q.entries {
		r.apply(g.store.loadBlob(r.ID, e))
	}
	r.appends = append(r.appends, q)
	return r.Last, nil, nil
}

// flush writes the rows of a run. If another process was faster, its appends fail.
func (g *group) flush(r *liveRun) error {
	if len(r.appends) == 0 {
		return nil
	}
	for _, q := range r.appends {
		r.digest = chain(r.digest, r.ID, q.entries[0].Seq, len(q.entries), q.dataSum)
		q.digest = r.digest
	}
	written, err := g.writeRun(r)
	if err != nil {
		return err
	}
	if !written {
		return g.failAppends(r)
	}
	for _, q := range r.appends {
		if _, err := g.exec("INSERT INTO entries (run, first, n, token, digest, data) VALUES ($1, $2, $3, $4, $5, $6)", r.num, q.entries[0].Seq, len(q.entries), q.token, q.digest[:], q.data); err != nil {
			return err
		}
		g.published = append(g.published, func() { g.store.hub.publish(r.ID, q) })
		g.note(r.ID, r.Last)
	}
	now := r.now()
	if err := g.writeChange(r, now); err != nil {
		return err
	}
	r.saved = now
	clear(r.appends)
	r.appends = r.appends[:0]
	return nil
}

// writeChange writes what a change of a run's row means for other tables; now is nil if the run is
// deleted.
func (g *group) writeChange(r *liveRun, now *savedRun) error {
	g.wrote = true
	g.tally.change(r.saved, now)
	if r.saved != nil {
		g.heads.xor(r.saved.digest.of(r.ID))
	}
	if now != nil {
		g.heads.xor(now.digest.of(r.ID))
	}
	return g.writeAsks(r.num, r.saved, now)
}

const insertRun = "INSERT INTO runs (" + valueColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING RETURNING num`

// writeRun writes the row of a run. It reports false if another process was faster.
func (g *group) writeRun(r *liveRun) (bool, error) {
	fold, err := r.fold()
	if err != nil {
		return false, err
	}
	c := r.columns()
	switch {
	case r.saved == nil:
		err := g.queryRow(insertRun, func(row scanner) error { return row.Scan(&r.num) }, r.values(fold)...)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		return err == nil, err
	case c == r.saved.columns: // no index changes
		n, err := g.exec("UPDATE runs SET epoch = $1, head = $2, digest = $3, bytes = $4, fold = $5 WHERE num = $6 AND head = $7",
			r.Epoch, r.Last, r.digest[:], r.Bytes, fold, r.num, r.saved.head)
		return n > 0, err
	}
	n, err := g.exec(`UPDATE runs SET owner = $1, started = $2, state = $3, ended = $4, due = $5, work = $6, queued = $7,
		epoch = $8, head = $9, digest = $10, bytes = $11, fold = $12 WHERE num = $13 AND head = $14`,
		c.owner, c.started, string(c.state), c.ended, c.due, toInt(c.work), toInt(c.queued),
		r.Epoch, r.Last, r.digest[:], r.Bytes, fold, r.num, r.saved.head)
	return n > 0, err
}

// failAppends fails the appends to a run whose row another process has changed, or whose
// idempotency key another run has.
func (g *group) failAppends(r *liveRun) error {
	delete(g.rows, r.ID)
	now, err := g.load(r.ID)
	if err != nil {
		return err
	}
	failed := error(runlog.ErrNotFound)
	if now == nil && r.saved == nil {
		first := ""
		if err := g.queryRow(selectByIdempotency, func(row scanner) error { return row.Scan(&first) }, r.idempotency()); err != nil {
			return err
		}
		failed = &runlog.DuplicateStartError{Run: fromText(first)}
	}
	for _, q := range r.appends {
		q.last, q.err = 0, failed
		if now != nil {
			q.last, q.err = now.Last, &runlog.ConflictError{Run: r.ID, After: q.after, Last: now.Last}
		}
	}
	r.appends = nil
	return nil
}

// publish tells followers what was committed.
func (g *group) publish() {
	for _, f := range g.published {
		f()
	}
}
