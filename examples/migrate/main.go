// Command migrate applies SQL migrations to a SQLite database, once a person has seen
// and approved them: on Beam's page, or in any MCP client. It may be killed at any
// moment; when it is started again, it continues, and applies nothing twice.
//
// It is a module of its own. In its folder,
//
//	MIGRATE_DATABASE=shop.db go run .
//
// serves the tool to browsers, and "go run . stdio" to an MCP client.
package main

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"

	"github.com/photon-beam/beam"
	"github.com/photon-beam/beam/generators"
)

//go:embed migrations/*.sql
var embedded embed.FS

func main() {
	m, err := newMigrator(cmp.Or(os.Getenv("MIGRATE_DATABASE"), "shop.db"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(1)
	}
	beam.Main(generators.New("migrate", m.migrate, options))
}

// newMigrator returns a migrator for a database file, which need not exist yet.
func newMigrator(path string) (*migrator, error) {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	return &migrator{name: path, db: db, files: files}, nil
}
