package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/beamtest"
	"github.com/photon-beam/beam/generators"
)

// newTestMigrator returns a migrator of an empty database in its own folder.
func newTestMigrator(t *testing.T) *migrator {
	t.Helper()
	m, err := newMigrator(filepath.Join(t.TempDir(), "shop & co?.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.db.Close() })
	return m
}

func (m *migrator) photon() *generators.Photon { return generators.New("migrate", m.migrate, options) }

// checkMigrated checks that every migration has been applied once.
func checkMigrated(t *testing.T, db *database) {
	t.Helper()
	got, err := queryTexts(t.Context(), db, "SELECT name || ' ' || orders || ' ' || (SELECT sum(total) FROM orders o WHERE o.customer = customers.id) FROM customers ORDER BY id")
	if want := []string{"Ada 2 2050.0", "Grace 1 9999.0"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the database has %q, %v; want %q", got, err, want)
	}
	if n := len(appliedTo(t, db)); n != 4 {
		t.Errorf("%d migrations were applied, want 4", n)
	}
}

func appliedTo(t *testing.T, db *database) []string {
	t.Helper()
	names, err := db.applied(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// What is approved is applied, once, wherever the run is interrupted and replayed.
func TestApproved(t *testing.T) {
	m := newTestMigrator(t)
	got := beamtest.Replay(t, m.photon(), nil, beamtest.Script{"apply": beamtest.Accept(true)})
	checkMigrated(t, m.db)
	if text := beamtest.Decode[string](t, got); !strings.HasPrefix(text, "Applied 4 migrations to shop & co?.db:\n\n- `001_customers_and_orders.sql` (5 rows changed)\n") {
		t.Errorf("the result is %s", text)
	}
	shown := got.Questions["apply"].Evidence
	if len(shown) != 4 || shown[3].Title != "004_drop_fax.sql" || !strings.Contains(string(shown[3].Body), "DROP COLUMN fax") {
		t.Errorf("the question shows %v", shown)
	}
	again := beamtest.Run(t, m.photon(), nil, nil)
	if text := beamtest.Decode[string](t, again); text != "Nothing to do: all 4 migrations have been applied." {
		t.Errorf("the second result is %s", text)
	}
}

// A no, in any form, leaves the database alone.
func TestNotApproved(t *testing.T) {
	m := newTestMigrator(t)
	got := beamtest.Run(t, m.photon(), nil, beamtest.Script{"apply": beamtest.Accept(false)})
	if text := beamtest.Decode[string](t, got); text != "Nothing was applied: the answer was no." {
		t.Errorf("the result is %s", text)
	}
	if got := beamtest.Run(t, m.photon(), nil, beamtest.Script{"apply": beamtest.Decline()}); !errors.Is(got.Err, ask.ErrDeclined) {
		t.Errorf("after a decline: %v", got.Err)
	}
	if names := appliedTo(t, m.db); len(names) > 0 {
		t.Errorf("%q were applied", names)
	}
}

// The question also shows how much there is to lose.
func TestShowsTables(t *testing.T) {
	m := newTestMigrator(t)
	if _, err := m.db.apply(t.Context(), firstMigration(t, m), 0); err != nil {
		t.Fatal(err)
	}
	got := beamtest.Run(t, m.photon(), nil, beamtest.Script{"apply": beamtest.Decline()})
	shown := got.Questions["apply"].Evidence
	if last := shown[len(shown)-1]; len(shown) != 4 || string(last.Body) != `{"columns":["table","rows"],"rows":[["customers",2],["orders",3]]}` {
		t.Errorf("the question shows %s", last.Body)
	}
}

// A migration that fails changes nothing and ends the run, which says how far it got.
func TestFailingMigration(t *testing.T) {
	m := newTestMigrator(t)
	m.files = fstest.MapFS{"1.sql": {Data: []byte("CREATE TABLE a (b)")}, "2.sql": {Data: []byte("INSERT INTO a VALUES (1); DROP TABLE c")}, "3.sql": {Data: []byte("CREATE TABLE d (e)")}}
	got := beamtest.Run(t, m.photon(), nil, beamtest.Script{"apply": beamtest.Accept(true)})
	if got.Err == nil || !strings.HasPrefix(got.Err.Error(), "2.sql was not applied, nor any after it: ") {
		t.Errorf("the error is %v", got.Err)
	}
	if names := appliedTo(t, m.db); !slices.Equal(names, []string{"1.sql"}) {
		t.Errorf("%q were applied", names)
	}
	if rows, err := queryTexts(t.Context(), m.db, "SELECT b FROM a"); err != nil || len(rows) > 0 {
		t.Errorf("the table has %q, %v", rows, err)
	}
}

// What another program has applied since the plan was made is not applied over.
func TestDatabaseChangesMeanwhile(t *testing.T) {
	m := newTestMigrator(t)
	planned := firstMigration(t, m)
	if _, err := m.db.apply(context.Background(), migration{"other.sql", "CREATE TABLE other (a)"}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.db.apply(t.Context(), planned, 0); err == nil || err.Error() != "other.sql was applied in the meantime" {
		t.Errorf("the error is %v", err)
	}
	if got := beamtest.Run(t, m.photon(), nil, nil); got.Err == nil || got.Err.Error() != "migration 1 of the database is other.sql, but that of the files is 001_customers_and_orders.sql" {
		t.Errorf("the error is %v", got.Err)
	}
}

func firstMigration(t *testing.T, m *migrator) migration {
	t.Helper()
	p, err := m.makePlan(t.Context())
	if err != nil || len(p.Pending) == 0 {
		t.Fatal(p, err)
	}
	return p.Pending[0]
}
