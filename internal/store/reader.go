package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/photon-beam/beam/internal/runlog"
)

// statements are prepared once each, on a database or on one of its connections.
type statements struct {
	on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt := s.all[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if s.all == nil {
		s.all = make(map[string]*sql.Stmt)
	}
	s.all[query] = stmt
	return stmt, nil
}

// closeStatements closes all statements, without which a connection can't be closed.
func (s *statements) closeStatements() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stmt := range s.all {
		err = errors.Join(err, stmt.Close())
	}
	s.all = nil
	return err
}

// scanRows calls scan for each row that a query finds, until it returns errStop.
func (s *statements) scanRows(ctx context.Context, query string, scan func(scanner) error, args []any) error {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close() // SQLite may panic when it reads what is damaged
	for err == nil && rows.Next() {
		err = scan(rows)
	}
	if err == errStop {
		err = nil
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

var errStop = errors.New("enough rows")

type scanner interface{ Scan(...any) error }

// A reader executes queries that change nothing. Its methods may be called from several
// goroutines unless its statements are those of a connection.
type reader struct {
	statements
	dialect *dialect
	closing <-chan struct{} // closed when its store closes; may be nil
}

// query calls scan for each row, until it returns errStop.
func (r *reader) query(ctx context.Context, query string, scan func(scanner) error, args ...any) error {
	bound, cancel := ctx, func() {}
	if d := r.dialect.timeout; d > 0 { // of another machine's database, which may not answer
		bound, cancel = context.WithTimeout(ctx, d)
	}
	defer cancel()
	return r.fail(ctx, r.scanRows(bound, query, scan, args))
}

// exec executes a statement, on a database whose readers can write, and returns how many rows it changed.
func (r *reader) exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	s, err := r.prepare(ctx, query)
	if err != nil {
		return 0, r.fail(ctx, err)
	}
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, r.fail(ctx, err)
	}
	return res.RowsAffected()
}

// queryOne scans the only row that a query finds. The error is [runlog.ErrNotFound] if there is
// none.
func (r *reader) queryOne(ctx context.Context, query string, scan func(scanner) error, args ...any) error {
	found := false
	err := r.query(ctx, query, func(row scanner) error {
		found = true
		return scan(row)
	}, args...)
	if err == nil && !found {
		return runlog.ErrNotFound
	}
	return err
}

// fail returns [ErrClosed] or ctx's error if that has caused the database's, and otherwise what
// the database's means.
func (r *reader) fail(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case r.isClosed():
		return ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return r.dialect.explain(err)
}

func (r *reader) isClosed() bool {
	select {
	case <-r.closing:
		return true
	default:
		return false
	}
}
