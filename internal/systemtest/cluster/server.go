package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/photon-beam/beam/internal/systemtest/programtest"
)

// A server is one server of PostgreSQL.
type server struct {
	of      *Postgres
	address string // host and port
	data    string // the folder
	process *process
	said    *programtest.Console
}

// start starts the server, and returns when it answers.
func (s *server) start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	args := []string{"-D", s.data, "-k", s.of.dir, "-p", port, "-c", "listen_addresses=" + host}
	for _, setting := range s.of.settings {
		args = append(args, "-c", setting)
	}
	s.said = programtest.NewConsole()
	cmd := exec.Command(filepath.Join(s.of.bin, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.of.dir, s.said, s.said
	if s.process, err = startProcess(cmd, s.of.who); err != nil {
		return err
	}
	return s.await(ctx, "SELECT true")
}

// stop stops the server as an operator does who doesn't wait for clients.
func (s *server) stop() error {
	if s.process.hasEnded() {
		return nil
	}
	if err := s.process.signal(syscall.SIGINT); err != nil {
		return err
	}
	if !programtest.Poll(s.process.hasEnded) {
		return fmt.Errorf("the server at %s doesn't stop:\n%s", s.address, s.said)
	}
	return nil
}

// awaitWrites waits until the server accepts writes.
func (s *server) awaitWrites(ctx context.Context) error {
	return s.await(ctx, "SELECT NOT pg_is_in_recovery()")
}

// await waits until a query answers true.
func (s *server) await(ctx context.Context, query string) error {
	var err error
	done := programtest.Poll(func() bool {
		var is bool
		if err = s.query(ctx, &is, query); err == nil && is {
			return true
		}
		if s.process.hasEnded() {
			err = errors.Join(err, errors.New("the server has ended"))
		}
		return ctx.Err() != nil || s.process.hasEnded()
	})
	if err != nil || !done {
		return fmt.Errorf("the server at %s doesn't answer true to %s: %w\n%s", s.address, query, err, s.said)
	}
	return ctx.Err()
}

// dsn returns how to connect as a user, over the socket. Users' databases have their names.
func (s *server) dsn(user string) string {
	_, port, _ := strings.Cut(s.address, ":")
	return fmt.Sprintf("host=%s port=%s user=%s dbname=%s", s.of.dir, port, user, user)
}

// connect connects as the superuser.
func (s *server) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(s.dsn("postgres"))
	if err != nil {
		return nil, err
	}
	config.Database, config.DefaultQueryExecMode = database, pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, config)
}

// exec executes a statement as the superuser.
func (s *server) exec(ctx context.Context, statement string) error {
	return s.execIn(ctx, "postgres", statement)
}

// execIn executes a statement in a database, as the superuser.
func (s *server) execIn(ctx context.Context, database, statement string, args ...any) error {
	c, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, statement, args...)
	return err
}

// query reads one value as the superuser.
func (s *server) query(ctx context.Context, to any, query string) error {
	c, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	return c.QueryRow(ctx, query).Scan(to)
}
