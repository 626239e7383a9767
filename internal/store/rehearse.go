package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"

	"github.com/photon-beam/beam/internal/store/postgres"
)

// Format is the format of the stores that this version writes.
var Format = len(migrationFiles)

// Connections is how many connections to PostgreSQL a store has: readers, a writer, and a session.
const Connections = readerConns + 2

// Rehearse makes the tables of the store in a PostgreSQL database, unless they are there, and tries
// what each transaction relies on; all that in a transaction that it rolls back. It returns the
// format of the tables, 0 for none. Those of an earlier format aren't tried.
func Rehearse(ctx context.Context, p *postgres.Probe) (format int, tables, transactions error) {
	format, err := readFormat(ctx, p.Conn(), &postgresDialect)
	if err == nil {
		err = checkFormat(format)
	}
	if err != nil || format > 0 && format < Format {
		return format, err, err
	}
	tx, err := p.Conn().BeginTx(ctx, nil)
	if err != nil {
		return format, err, err
	}
	defer func() { _ = tx.Rollback() }()
	if format == 0 {
		err = rehearseTables(ctx, tx)
	} else {
		err = rehearseRights(ctx, tx)
	}
	if err != nil {
		return format, err, err
	}
	return format, nil, rehearseChanges(ctx, tx)
}

func rehearseTables(ctx context.Context, tx *sql.Tx) error {
	for _, file := range migrationFiles {
		migration, err := fs.ReadFile(migrations, file)
		if err == nil {
			_, err = tx.ExecContext(ctx, postgresDialect.translate(string(migration)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errRights = errors.New("its role may not read and write the tables of Beam")

// rehearseRights returns errRights if the role may not use the tables that are there.
func rehearseRights(ctx context.Context, tx *sql.Tx) error {
	var lacking bool
	err := tx.QueryRowContext(ctx, `SELECT bool_or(NOT has_table_privilege(c.oid, 'SELECT') OR NOT has_table_privilege(c.oid, 'INSERT')
		OR NOT has_table_privilege(c.oid, 'UPDATE') OR NOT has_table_privilege(c.oid, 'DELETE'))
		FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		AND c.relname IN ('meta', 'runs', 'entries', 'asks', 'audience', 'counts', 'photons', 'deleted', 'state', 'workers', 'blobs')`).Scan(&lacking)
	if err == nil && lacking {
		err = errRights
	}
	return err
}

// rehearseChanges inserts a row of small state, conflicts with it, and changes it twice: only the
// first finds the old value.
func rehearseChanges(ctx context.Context, tx *sql.Tx) error {
	const insert = "INSERT INTO state (num, bucket, key, value, digest) VALUES (-1, 'rehearsal', 'key', 'a', 'a') ON CONFLICT DO NOTHING"
	const update = "UPDATE state SET digest = 'b' WHERE bucket = 'rehearsal' AND digest = 'a'"
	for _, step := range []struct {
		statement string
		want      int64
	}{{insert, 1}, {insert, 0}, {update, 1}, {update, 0}} {
		result, err := tx.ExecContext(ctx, step.statement)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n != step.want {
			return errors.New("a conflict between transactions is not noticed")
		}
	}
	return nil
}
