package store

import (
	"context"
	"time"
)

// deleteRun deletes the rows of a run, so that it doesn't exist any more. Its entries are deleted
// later, by cleanUp.
func (g *group) deleteRun(id string) error {
	r, err := g.load(id)
	if err == nil && r != nil {
		err = g.flush(r) // of the same group
	}
	if err != nil || r == nil || r.saved == nil { // it doesn't exist, or could not start
		return err
	}
	if n, err := g.exec("DELETE FROM runs WHERE num = $1 AND head = $2", r.num, r.saved.head); err != nil {
		return err
	} else if n == 0 { // another process was faster
		delete(g.rows, r.ID)
		return g.deleteRun(id)
	}
	if _, err := g.exec("INSERT INTO deleted (run) VALUES ($1)", r.num); err != nil {
		return err
	}
	if err := g.writeChange(r, nil); err != nil {
		return err
	}
	delete(g.rows, r.ID)
	g.garbage = true
	g.published = append(g.published, func() { g.store.hub.end(r.ID) })
	g.note(r.ID, 0)
	return nil
}

// Cleaning up gives way to requests: it waits while there are some, up to a limit, and does
// little at once.
const (
	cleanupPause    = 2 * time.Millisecond
	cleanupInterval = 100 * time.Millisecond
	cleanupRuns     = 128
	cleanupEntries  = 256
	cleanupPages    = 64
)

// cleanUp deletes some entries of deleted runs, or gives some free pages back to the disk. It
// reports whether more is left to do.
func (w *writer) cleanUp() (more bool) {
	w.gate.Lock()
	defer w.gate.Unlock()
	g := &group{writer: w}
	more, err := g.cleanUp()
	if err != nil {
		w.disconnect()
		w.store.logger.Error("deleting the entries of deleted runs", "err", w.store.dialect.explain(err))
		return false // until the next deletion
	}
	return more
}

func (g *group) cleanUp() (more bool, err error) {
	if err := g.connect(context.Background()); err != nil {
		return false, err
	}
	if err := g.begin(nil); err != nil {
		return false, err
	}
	runs, err := g.listDeleted()
	if err != nil {
		return false, err
	}
	left := int64(cleanupEntries)
	for _, num := range runs {
		n, err := g.exec("DELETE FROM entries WHERE run = $1 AND first IN (SELECT first FROM entries WHERE run = $1 ORDER BY first LIMIT $2)", num, left)
		if err != nil {
			return false, err
		}
		if left -= n; left <= 0 {
			break
		}
		if _, err := g.exec("DELETE FROM deleted WHERE run = $1 AND NOT EXISTS (SELECT 1 FROM entries WHERE run = $1)", num); err != nil {
			return false, err
		}
	}
	g.wrote = len(runs) > 0
	if err := g.commit(); err != nil || len(runs) > 0 || g.store.files == nil {
		return len(runs) > 0, err
	}
	return g.shrink()
}

func (g *group) listDeleted() (runs []int64, err error) {
	err = g.scanRows(context.Background(), "SELECT run FROM deleted ORDER BY run LIMIT $1", func(row scanner) error {
		var num int64
		err := row.Scan(&num)
		runs = append(runs, num)
		return err
	}, []any{cleanupRuns})
	return runs, err
}

// shrink gives free pages back, but for some that will be used again.
func (g *group) shrink() (more bool, err error) {
	const keep = 256
	var free int64
	if err := g.conn.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&free); err != nil || free <= keep {
		return false, err
	}
	_, err = g.conn.ExecContext(context.Background(), "PRAGMA incremental_vacuum(64)")
	return free-cleanupPages > keep, err
}
