package store

import (
	"context"
	"errors"
)

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
