package store_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/smallstate/smallstatetest"
	"github.com/photon-beam/beam/internal/store"
	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// What passes with SQLite passes with PostgreSQL.
func TestPostgres(t *testing.T) {
	dsn := cluster.NewPostgres(t, cluster.PostgresOptions{}).SocketDSN()
	n := 0
	openWith := func(t *testing.T, schema string, lock int64) *store.Store {
		s, err := store.OpenPostgres(t.Context(), dsn+" search_path="+schema, lock, store.Options{})
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
	open := func(t *testing.T, schema string) *store.Store { return openWith(t, schema, rand.Int64()) }
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
	t.Run("Blobs", func(t *testing.T) {
		testBlobs(t, func(t *testing.T) sharedBlobs {
			schema := newSchema(t)
			s := open(t, schema)
			db, err := sql.Open("pgx", dsn+" search_path="+schema)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return sharedBlobs{s.Blobs(), s, db}
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
	t.Run("Followers", func(t *testing.T) {
		schema := newSchema(t)
		a, b := open(t, schema), open(t, schema)
		if !programtest.Poll(a.Sharing().HasSession) || !programtest.Poll(b.Sharing().HasSession) {
			t.Fatal("there is no session")
		}
		followAnother(t, a, b)
	})
	t.Run("FollowersWithoutSessions", func(t *testing.T) {
		schema, lock := newSchema(t), rand.Int64()
		a := openWith(t, schema, lock)
		if !programtest.Poll(a.Sharing().HasSession) {
			t.Fatal("there is no session")
		}
		b, c := openWith(t, schema, lock), openWith(t, schema, lock) // whose lock is taken
		followAnother(t, b, c)
	})
}

// What one store appends to a run, or deletes, reaches the followers of another.
func followAnother(t *testing.T, a, b *store.Store) {
	startRun(t, a, "followed", runlog.Started{})
	var got []string
	for batch, err := range b.Follow(t.Context(), "followed", 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			got = append(got, fmt.Sprint(e.Seq, e.Kind))
		}
		by := []*store.Store{a, b}[len(got)%2]
		if last := batch[len(batch)-1].Seq; last < 20 {
			_, err = by.Append(t.Context(), "followed", last, runlog.NewEntry("status", "next"))
		} else {
			err = by.Delete(t.Context(), "followed")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 20 || got[19] != "20status" {
		t.Errorf("got %d entries: %v", len(got), got)
	}
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
