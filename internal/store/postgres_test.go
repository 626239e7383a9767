package store_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/programtest"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/internal/runlog/runlogtest"
	"github.com/photon-beam/beam/internal/smallstate"
	"github.com/photon-beam/beam/internal/smallstate/smallstatetest"
	"github.com/photon-beam/beam/internal/store"
)

// What passes with SQLite passes with PostgreSQL.
func TestPostgres(t *testing.T) {
	dsn := startPostgres(t)
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

// startPostgres starts a server that listens on a socket in a folder of its own, and returns
// how to connect.
func startPostgres(t *testing.T) (dsn string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("PostgreSQL isn't installed")
		}
		t.Skip("PostgreSQL isn't installed")
	}
	bin, dir := slices.Max(found), t.TempDir()
	var who *syscall.Credential
	if os.Getuid() == 0 { // the server refuses to run as root
		who = credentialOf(t, "nobody")
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: who}
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "--pgdata="+data, "--auth=trust", "--username=beam", "--encoding=UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	dsn = "host=" + dir + " user=beam dbname=postgres"
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if !programtest.Poll(func() bool { return db.PingContext(t.Context()) == nil }) {
		t.Fatalf("the server doesn't answer: %s", said.String())
	}
	return dsn
}

func credentialOf(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		t.Fatal(uidErr, gidErr)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
