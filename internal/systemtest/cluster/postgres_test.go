package cluster_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
)

// What was acknowledged is there after each of several failovers, with the same DSN.
func TestFailover(t *testing.T) {
	p := cluster.NewPostgres(t, cluster.PostgresOptions{Standby: true})
	execute(t, p.DSN(), "CREATE TABLE written (n int)")
	for n := range 3 {
		execute(t, p.DSN(), fmt.Sprint("INSERT INTO written VALUES (", n, ")"))
		old := p.PIDs()
		if err := p.KillPrimary(); err != nil {
			t.Fatal(err)
		}
		if err := p.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count(t, p.DSN(), "SELECT count(*) FROM written"); got != n+1 {
			t.Fatalf("after failover %d: %d rows", n, got)
		}
		execute(t, p.DSN(), "CREATE TABLE IF NOT EXISTS alone (n int)") // waits for no standby
		if n == 2 {
			break
		}
		if err := p.AddStandby(t.Context()); err != nil {
			t.Fatal(err)
		}
		if pids := p.PIDs(); len(pids) != 2 || pids[n%2] == old[n%2] || pids[(n+1)%2] != old[(n+1)%2] {
			t.Errorf("processes %v, and then %v", old, pids)
		}
	}
	if err := p.Promote(t.Context()); err == nil {
		t.Error("a standby was promoted that isn't there")
	}
}

// A database is killed or restarted, ends connections, and limits them.
func TestPostgres(t *testing.T) {
	p := cluster.NewPostgres(t, cluster.PostgresOptions{Fsync: true, MaxConnections: 20})
	execute(t, p.SocketDSN(), "CREATE TABLE written (n int)")
	for _, kill := range []bool{false, true} {
		execute(t, p.DSN(), "INSERT INTO written VALUES (1)")
		if kill {
			if err := p.KillPrimary(); err != nil {
				t.Fatal(err)
			}
			if _, err := pgx.Connect(t.Context(), p.DSN()); err == nil {
				t.Fatal("a killed server accepts connections")
			}
		}
		if err := p.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, p.DSN(), "SELECT count(*) FROM written"); got != 2 {
		t.Errorf("%d rows, want 2", got)
	}
	if got := count(t, p.DSN(), "SELECT current_setting('max_connections')::int"); got != 20 {
		t.Errorf("%d connections, want 20", got)
	}
	if got := count(t, p.DSN(), "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND rolsuper"); got != 0 {
		t.Error("Beam is a superuser")
	}

	first := connect(t, p.DSN())
	if err := p.LimitConnections(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), p.DSN()); err == nil {
		t.Error("there is one connection too many")
	}
	if n, err := p.TerminateConnections(t.Context()); n != 1 || err != nil {
		t.Errorf("terminated %d, %v", n, err)
	}
	if err := first.Ping(t.Context()); err == nil {
		t.Error("a terminated connection works")
	}
	if err := p.LimitConnections(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	connect(t, p.DSN())
	connect(t, p.DSN())
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func execute(t *testing.T, dsn, statement string) {
	t.Helper()
	c := connect(t, dsn)
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, dsn, query string) (n int) {
	t.Helper()
	c := connect(t, dsn)
	defer c.Close(t.Context())
	if err := c.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
