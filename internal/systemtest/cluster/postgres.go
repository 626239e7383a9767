package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// ErrNotInstalled means that Debian's package of PostgreSQL isn't installed.
var ErrNotInstalled = errors.New("PostgreSQL isn't installed: install Debian's package postgresql")

// PostgresOptions configure a [Postgres].
type PostgresOptions struct {
	Fsync          bool // writes survive a power failure, at their cost; all survive a kill
	Standby        bool // a synchronous standby: commits wait until it has them
	MaxConnections int  // 100 by default
}

// A Postgres is a database: a server and, if asked for, its standby, in a folder of its own.
// Beam connects as the user beam, who owns the database beam and is no superuser. One
// goroutine at a time may call the methods, except for Addresses and DSN once all servers were
// started.
type Postgres struct {
	bin, dir  string
	settings  []string            // of each server
	who       *syscall.Credential // of the servers; nil for that of this process
	addresses []string
	primary   *server
	standby   *server // nil for none
}

// NewPostgres starts a database for a test, which skips, outside of CI, if PostgreSQL isn't
// installed.
func NewPostgres(t testing.TB, o PostgresOptions) *Postgres {
	t.Helper()
	p, err := StartPostgres(t.Context(), o)
	switch {
	case errors.Is(err, ErrNotInstalled) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// StartPostgres starts a database. It runs until Stop.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, ErrNotInstalled
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return majorOf(a) - majorOf(b) })
	p := &Postgres{bin: filepath.Dir(newest), settings: []string{
		fmt.Sprint("fsync=", o.Fsync),
		"wal_receiver_status_interval=1s", // until a standby that has nothing to write is a synchronous one
	}}
	if o.MaxConnections > 0 {
		p.settings = append(p.settings, fmt.Sprint("max_connections=", o.MaxConnections))
	}
	if err := p.start(ctx, o.Standby); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// majorOf returns the version in a path below /usr/lib/postgresql.
func majorOf(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

// start makes the folder and the servers, and what Beam needs in them.
func (p *Postgres) start(ctx context.Context, withStandby bool) error {
	if err := p.makeFolder(); err != nil {
		return err
	}
	primary, err := p.newServer("a")
	if err != nil {
		return err
	}
	p.primary = primary
	if err := p.run("initdb", "--pgdata="+primary.data, "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	if err := primary.start(ctx); err != nil {
		return err
	}
	for _, statement := range []string{"CREATE ROLE beam LOGIN", "CREATE DATABASE beam OWNER beam"} {
		if err := primary.exec(ctx, statement); err != nil {
			return err
		}
	}
	if !withStandby {
		return nil
	}
	return p.AddStandby(ctx)
}

// makeFolder makes the folder, for a user whom PostgreSQL runs as.
func (p *Postgres) makeFolder() (err error) {
	if p.dir, err = os.MkdirTemp("", "beam-postgres-"); err != nil || os.Getuid() != 0 {
		return err
	}
	if p.who, err = credentialOf("nobody"); err != nil {
		return err
	}
	return os.Chown(p.dir, int(p.who.Uid), int(p.who.Gid))
}

// newServer returns a server that isn't started, and has no data.
func (p *Postgres) newServer(name string) (*server, error) {
	address, err := programtest.FindFreeAddress()
	if err != nil {
		return nil, err
	}
	p.addresses = append(p.addresses, address)
	return &server{of: p, address: address, data: filepath.Join(p.dir, name)}, nil
}

// Addresses returns where the servers listen: first the one that was the primary first. They
// stay through failovers; the first AddStandby adds one.
func (p *Postgres) Addresses() []string { return slices.Clone(p.addresses) }

// PIDs returns the processes of the servers, in the order of Addresses.
func (p *Postgres) PIDs() (pids []int) {
	for _, address := range p.addresses {
		for _, s := range []*server{p.primary, p.standby} {
			if s != nil && s.address == address {
				pids = append(pids, s.process.pid())
			}
		}
	}
	return pids
}

// DSN returns how Beam connects with whichever server is the primary.
func (p *Postgres) DSN() string { return DSN(p.addresses...) }

// DSN returns how Beam connects with whichever server at some addresses, such as those of
// links, is the primary.
func DSN(addresses ...string) string {
	return "postgres://beam@" + strings.Join(addresses, ",") + "/beam?sslmode=disable&target_session_attrs=read-write"
}

// SocketDSN returns, as words, how Beam connects with the primary over its socket.
func (p *Postgres) SocketDSN() string { return p.primary.dsn("beam") }

// Exec executes a statement in the primary, as its superuser, in the database beam.
func (p *Postgres) Exec(ctx context.Context, statement string, args ...any) error {
	return p.primary.execIn(ctx, "beam", statement, args...)
}

// KillPrimary kills the primary and all its processes, and returns when they are gone.
func (p *Postgres) KillPrimary() error { return p.primary.process.killAll() }

// Promote makes the standby the primary, and returns when it accepts writes. The former
// primary must have been killed. There is no standby then: see AddStandby.
func (p *Postgres) Promote(ctx context.Context) error {
	switch {
	case p.standby == nil:
		return errors.New("there is no standby")
	case !p.primary.process.hasEnded():
		return errors.New("the primary runs: two would accept writes")
	}
	if err := p.run("pg_ctl", "promote", "--wait", "--pgdata="+p.standby.data); err != nil {
		return err
	}
	p.primary, p.standby = p.standby, nil
	return p.primary.awaitWrites(ctx)
}

// AddStandby makes a synchronous standby of the server that isn't the primary, from a copy of
// the primary: at first, and after a promotion. It returns when commits wait for it.
func (p *Postgres) AddStandby(ctx context.Context) error {
	if p.standby != nil {
		return errors.New("there is a standby")
	}
	s, err := p.spareServer()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.data); err != nil {
		return err
	}
	from := p.primary.dsn("postgres") + " application_name=standby"
	if err := p.run("pg_basebackup", "--pgdata="+s.data, "--dbname="+from, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"); err != nil {
		return err
	}
	p.standby = s // Stop ends it even if it doesn't answer
	if err := s.start(ctx); err != nil {
		return err
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()"} {
		if err := p.primary.exec(ctx, statement); err != nil {
			return err
		}
	}
	return p.primary.await(ctx, "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'")
}

// spareServer returns the server that was the primary before a promotion, or a new one.
func (p *Postgres) spareServer() (*server, error) {
	if len(p.addresses) == 1 {
		return p.newServer("b")
	}
	s := &server{of: p, address: p.addresses[0], data: filepath.Join(p.dir, "a")}
	if p.primary.address == s.address {
		s.address, s.data = p.addresses[1], filepath.Join(p.dir, "b")
	}
	return s, nil
}

// Restart stops the primary in an orderly way, unless it was killed, and starts it again.
func (p *Postgres) Restart(ctx context.Context) error {
	if err := p.primary.stop(); err != nil {
		return err
	}
	return p.primary.start(ctx)
}

// TerminateConnections ends all connections of Beam, and returns how many there were.
func (p *Postgres) TerminateConnections(ctx context.Context) (n int, err error) {
	err = p.primary.query(ctx, &n, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'beam'")
	return n, err
}

// LimitConnections limits how many connections Beam may have, from the next one on; -1 lifts
// the limit.
func (p *Postgres) LimitConnections(ctx context.Context, n int) error {
	return p.primary.exec(ctx, fmt.Sprint("ALTER ROLE beam CONNECTION LIMIT ", n))
}

// Stop kills all servers, and deletes their data.
func (p *Postgres) Stop() error {
	var errs []error
	for _, s := range []*server{p.standby, p.primary} {
		if s != nil {
			errs = append(errs, s.process.killAll())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

// run runs one of PostgreSQL's programs to its end.
func (p *Postgres) run(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, &syscall.SysProcAttr{Credential: p.who}
	log, err := os.CreateTemp(p.dir, name)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log // a file: what it starts may keep it
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	return nil
}

func credentialOf(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// IsNotInstalled reports whether a cluster can't start because PostgreSQL isn't installed, as on a
// developer's machine. In CI it is an error.
func IsNotInstalled(err error) bool { return errors.Is(err, ErrNotInstalled) && os.Getenv("CI") == "" }
