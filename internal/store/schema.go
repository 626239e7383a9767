package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/photon-beam/beam/internal/runlog"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewerFormat means that a newer version of Beam wrote the store.
var ErrNewerFormat = errors.New("the store was written by a newer version of Beam")

// migrationFiles are the migrations, in their order. The format is how many were applied.
var migrationFiles = func() []string {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is right
	}
	return files
}()

// checkFormat returns [ErrNewerFormat] if this version doesn't know a format.
func checkFormat(format int) error {
	if format > len(migrationFiles) {
		return fmt.Errorf("%w: it has format %d; this version reads up to format %d", ErrNewerFormat, format, len(migrationFiles))
	}
	return nil
}

// migrate applies the migrations that the database lacks, each in a transaction.
func migrate(ctx context.Context, conn *sql.Conn, d *dialect) error {
	format, err := readFormat(ctx, conn, d)
	if err == nil {
		err = checkFormat(format)
	}
	if err != nil {
		return err
	}
	for ; format < len(migrationFiles); format++ {
		if err := applyMigration(ctx, conn, d, migrationFiles[format], format); err != nil {
			return fmt.Errorf("migrating the store to format %d: %w", format+1, err)
		}
	}
	return nil
}

func readFormat(ctx context.Context, conn *sql.Conn, d *dialect) (format int, err error) {
	if err := conn.QueryRowContext(ctx, d.tables).Scan(&format); err != nil || format == 0 {
		return 0, err
	}
	err = conn.QueryRowContext(ctx, "SELECT format FROM meta").Scan(&format)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: it has no format", runlog.ErrCorrupt)
	}
	return format, err
}

func applyMigration(ctx context.Context, conn *sql.Conn, d *dialect, file string, format int) error {
	migration, err := fs.ReadFile(migrations, file)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, d.begin); err != nil {
		return err
	}
	now := format
	if d.lockSchema != "" {
		if _, err = conn.ExecContext(ctx, d.lockSchema); err == nil {
			now, err = readFormat(ctx, conn, d)
		}
	}
	if err != nil || now != format { // another process was faster
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // fails if the error has ended the transaction
		return err
	}
	_, err = conn.ExecContext(ctx, d.translate(string(migration)))
	if err == nil && format == 0 {
		id := make([]byte, 16)
		_, _ = rand.Read(id) // it doesn't fail
		_, err = conn.ExecContext(ctx, "INSERT INTO meta (one, format, id, commits, heads) VALUES (1, 1, $1, 1, $2)", id, make([]byte, digestSize))
	} else if err == nil {
		_, err = conn.ExecContext(ctx, "UPDATE meta SET format = $1", format+1)
	}
	if err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // fails if the error has ended the transaction
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// createSQLite migrates an empty SQLite database, and returns its id.
func createSQLite(ctx context.Context, conn *sql.Conn) (id []byte, err error) {
	if err := migrate(ctx, conn, &sqliteDialect); err != nil {
		return nil, err
	}
	err = conn.QueryRowContext(ctx, "SELECT id FROM meta").Scan(&id)
	return id, err
}
