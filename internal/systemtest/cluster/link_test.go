package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A link cuts, delays and resets connections with a database.
func TestLink(t *testing.T) {
	p := cluster.NewPostgres(t, cluster.PostgresOptions{})
	l, err := cluster.NewLink(p.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dsn := cluster.DSN(l.Addr())
	execute(t, dsn, "CREATE TABLE written (n int)")

	c := connect(t, dsn)
	l.Cut()
	if err := c.Ping(t.Context()); err == nil {
		t.Error("a connection outlives a cut")
	}
	if _, err := pgx.Connect(t.Context(), dsn); err == nil {
		t.Error("a link that is cut accepts connections")
	}
	if err := l.Restore(); err != nil {
		t.Fatal(err)
	}

	c = connect(t, dsn)
	l.Delay(30 * time.Millisecond)
	begin := time.Now()
	if err := c.Ping(t.Context()); err != nil || time.Since(begin) < 60*time.Millisecond {
		t.Errorf("a delayed ping takes %v, %v", time.Since(begin), err)
	}
	l.Delay(time.Hour)
	done := make(chan error, 1)
	go func() { done <- c.Ping(context.WithoutCancel(t.Context())) }()
	select {
	case err := <-done:
		t.Errorf("a ping through a pulled cable: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	l.Delay(0)
	if err := <-done; err != nil {
		t.Errorf("a ping through a cable that was plugged in again: %v", err)
	}

	for _, test := range []struct {
		name  string
		reset func()
		rows  int
	}{{"ResetNext", l.ResetNext, 0}, {"ResetCommit", l.ResetCommit, 1}} {
		tx, err := connect(t, dsn).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "INSERT INTO written VALUES (1)"); err != nil {
			t.Fatal(err)
		}
		test.reset()
		if err := tx.Commit(t.Context()); err == nil || l.IsArmed() {
			t.Errorf("%s: the commit succeeds: %v", test.name, err)
		}
		// The server may learn of the reset later than the client.
		if !programtest.Poll(func() bool {
			return count(t, p.DSN(), "SELECT count(*) FROM pg_stat_activity WHERE usename = 'beam'") == 2 // with c
		}) {
			t.Errorf("%s: the connection goes on", test.name)
		}
		if got := count(t, p.DSN(), "SELECT count(*) FROM written"); got != test.rows {
			t.Errorf("%s: %d rows, want %d", test.name, got, test.rows)
		}
	}
}
