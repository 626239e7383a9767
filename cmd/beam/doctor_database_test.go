package main

import (
	"context"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/cluster"
)

// Doctor says what Beam lacks of a database, and changes nothing there.
func TestDoctorOfDatabase(t *testing.T) {
	t.Parallel()
	db := cluster.NewPostgres(t, cluster.PostgresOptions{Standby: true})
	exec := func(statement string) {
		t.Helper()
		if err := db.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	doctor := func(status int, url string, want ...string) {
		t.Helper()
		said := runBeam(t, status, "doctor", "--addr", "127.0.0.1:0", "--data", t.TempDir()+"/data", "--store", url)
		for _, line := range want {
			if !strings.Contains(said, line) {
				t.Errorf("doctor of %s doesn't say %q:\n%s", url, line, said)
			}
		}
		if status == 0 && strings.Contains(said, "problem ") {
			t.Error(said)
		}
	}
	as := func(role string, address int) string {
		return "postgres://" + role + "@" + db.Addresses()[address] + "/beam?sslmode=disable"
	}
	good := []string{
		"ok       database connected (no TLS)", "ok       server   PostgreSQL 1", "ok       writes   it is writable", "ok       conflict ",
		"ok       locks    ", "ok       notices  they arrive", "ok       prepared ", "ok       clock    ", "ok       commits  synchronous_commit is on; synchronous standbys: standby",
		"ok       capacity 9",
	}
	doctor(0, db.DSN(), append(good, "ok       tables   there are none yet")...)
	doctor(0, db.DSN(), "ok       tables   there are none yet") // still
	doctor(1, as("beam", 1), "problem  writes   the server is a standby", "problem  tables   ")
	exec("CREATE ROLE guest LOGIN")
	doctor(1, as("guest", 0), "problem  tables   ERROR: permission denied for schema public")

	runBeam(t, 0, "check", "--store", db.DSN(), "--secrets-key-file", secretsKey(t)) // makes the tables
	doctor(0, db.DSN(), append(good, "ok       tables   Beam's, in format ")...)
	runBeam(t, 0, "check", "--store", db.DSN(), "--secrets-key-file", secretsKey(t)) // has no row of it
	doctor(1, as("guest", 0), "problem  tables   its role may not read and write the tables of Beam")
	exec("UPDATE meta SET format = 4")
	doctor(0, db.DSN(), "note     tables   they have format 4, and the next start makes it ")
	exec("UPDATE meta SET format = 1000")
	doctor(1, db.DSN(), "problem  tables   the store was written by a newer version of Beam")
	exec("ALTER ROLE beam CONNECTION LIMIT 9; ALTER ROLE beam SET synchronous_commit = off")
	doctor(1, db.DSN(), "problem  capacity ", "note     commits  synchronous_commit is off")
	doctor(1, "postgres://beam@127.0.0.1:1/beam", "problem  database failed to connect", "connection refused")
}
