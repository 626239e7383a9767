package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", which needs no C compiler

	"github.com/photon-beam/beam/generators"
)

// A database is a SQLite database that knows which migrations were applied to it.
type database struct{ *sql.DB }

// openDatabase opens a file, which the first migration makes. Transactions take their
// lock when they begin, and wait for another's.
func openDatabase(path string) (*database, error) {
	source := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(),
		RawQuery: "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=synchronous(full)"}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, err
	}
	return &database{db}, nil
}

const createHistory = `CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, changed INTEGER NOT NULL)`

// applied returns the names of the migrations that have been applied, in order.
func (d *database) applied(ctx context.Context) ([]string, error) {
	if _, err := d.ExecContext(ctx, createHistory); err != nil {
		return nil, err
	}
	return queryTexts(ctx, d, "SELECT name FROM migrations ORDER BY number")
}

// apply applies a migration after a number of others, and returns how many rows it
// changed. Its record is in the same transaction: if the process dies after that and
// applies it again, apply only returns what the record says.
func (d *database) apply(ctx context.Context, m migration, after int) (changed int64, err error) {
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	var name string
	err = tx.QueryRowContext(ctx, "SELECT name, changed FROM migrations WHERE number = ?", after+1).Scan(&name, &changed)
	switch {
	case err == nil && name == m.Name:
		return changed, nil
	case err == nil:
		return 0, fmt.Errorf("%s was applied in the meantime", name)
	case !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	var before int64
	if err := tx.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before); err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT total_changes() - ?", before).Scan(&changed); err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO migrations (number, name, changed) VALUES (?, ?, ?)", after+1, m.Name, changed); err != nil {
		return 0, err
	}
	return changed, tx.Commit()
}

// tables returns each table with its number of rows.
func (d *database) tables(ctx context.Context) (generators.Table, error) {
	t := generators.Table{Columns: []string{"table", "rows"}}
	names, err := queryTexts(ctx, d, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'migrations' ORDER BY name")
	if err != nil {
		return t, err
	}
	for _, name := range names {
		var rows int64
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		if err := d.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted).Scan(&rows); err != nil {
			return t, err
		}
		t.Rows = append(t.Rows, []any{name, rows})
	}
	return t, nil
}

func queryTexts(ctx context.Context, d *database, query string) ([]string, error) {
	rows, err := d.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}
