package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"regexp"

	"github.com/photon-beam/beam/internal/store/postgres"
)

// Format is the format of the stores that this version writes.
var Format = len(migrationFiles)

// Connections is how many connections to PostgreSQL a store has: readers, a writer, a session, and that of leases.
const Connections = readerConns + 3

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
	if err = checkRights(ctx, tx); err == nil && format == 0 {
		err = rehearseTables(ctx, tx)
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

var createTable = regexp.MustCompile(`CREATE TABLE (\w+)`)

// checkRights returns errRights if there are tables that the role may not use.
func checkRights(ctx context.Context, tx *sql.Tx) error {
	var names []string
	for _, file := range migrationFiles {
		migration, err := fs.ReadFile(migrations, file)
		if err != nil {
			return err
		}
		for _, found := range createTable.FindAllSubmatch(migration, -1) {
			names = append(names, string(found[1]))
		}
	}
	var lacking int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed
		WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text = quote_ident(current_schema()) AND c.relname = ANY($1)
		AND NOT has_table_privilege(c.oid, needed)`, names).Scan(&lacking)
	if err == nil && lacking > 0 {
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
