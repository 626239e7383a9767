package store_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/smallstate/smallstatetest"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/systemtest/cluster"
)

// What passes with SQLite passes with PostgreSQL.
func TestPostgres(t *testing.T) {
	dsn := cluster.NewPostgres(t, cluster.PostgresOptions{}).SocketDSN()
	n := 0
	open := func(t *testing.T, schema string) *store.Store {
		s, err := store.OpenPostgres(t.Context(), dsn+" search_path="+schema)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	newSchema := func(t *testing.T) string {
		n++
		schema := fmt.Sprint("s", n)
		execPostgres(t, dsn, "CREATE SCHEMA "+schema)
		return schema
	}
	t.Run("Log", func(t *testing.T) {
		runlogtest.RunSuite(t, func(t *testing.T) runlog.Log { return open(t, newSchema(t)) })
	})
	for name, test := range rowTests {
		t.Run(name, func(t *testing.T) {
			schema := newSchema(t)
			test(t, func(t *testing.T) *store.Store { return open(t, schema) })
		})
	}
	t.Run("State", func(t *testing.T) {
		smallstatetest.RunSuite(t, func(t *testing.T) func() smallstate.Store {
			schema := newSchema(t)
			return func() smallstate.Store { return open(t, schema).State() }
		})
	})
	// Another writer's append is a conflict, and not overwritten.
	t.Run("AnotherWriter", func(t *testing.T) {
		schema := newSchema(t)
		a, b := open(t, schema), open(t, schema)
		startRun(t, a, "r", runlog.Started{})
		if _, err := b.Append(t.Context(), "r", 1, runlog.NewEntry("status", "b")); err != nil {
			t.Fatal(err)
		}
		_, err := a.Append(t.Context(), "r", 1, runlog.NewEntry("status", "a"))
		var conflict *runlog.ConflictError
		if conflict, _ = err.(*runlog.ConflictError); conflict == nil || conflict.Last != 2 || conflict.After != 1 {
			t.Fatalf("the second append after entry 1: %v", err)
		}
		if _, err := a.Append(t.Context(), "r", 2, runlog.NewEntry("status", "a")); err != nil {
			t.Error(err)
		}
		checkWhole(t, b)
	})
}

func execPostgres(t *testing.T, dsn, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
