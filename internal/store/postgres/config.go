// Package postgres knows PostgreSQL and its driver: how to connect, what its errors mean, and
// what processes that share a database tell each other.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/photon-beam/beam/internal/runlog"
)

// Timeout bounds how long a statement takes, and how long a connection may be silent.
const Timeout = 15 * time.Second

// Parse parses where a database is: a URL (postgres://user@host/name) or a list of keywords, as
// libpq has them, with several hosts if there are. The error doesn't repeat it, because it may have a
// password.
func Parse(at string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(at)
	if err != nil {
		if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
			return nil, errors.New("the address of the database can't be read: want postgres://user:password@host/name, or keywords such as host=… dbname=…")
		}
		return nil, err
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 5*time.Second)
	c.DialFunc = (&net.Dialer{Timeout: c.ConnectTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}}).DialContext
	for name, value := range map[string]string{
		"application_name": "beam", "statement_timeout": inMillis(Timeout), "lock_timeout": inMillis(Timeout / 2),
		"idle_in_transaction_session_timeout": inMillis(Timeout),
	} {
		c.RuntimeParams[name] = cmp.Or(c.RuntimeParams[name], value)
	}
	return c, nil
}

func inMillis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// OpenDB returns a pool of at most n connections.
func OpenDB(c *pgx.ConnConfig, n int) *sql.DB {
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// Codes of errors, and classes of those that pass.
const (
	diskFull            = "53100"
	serializationFailed = "40001"
	deadlock            = "40P01"
)

var unavailable = []string{"08", "25", "53", "55", "57", "58", "XX"} // 25: it is, or has become, a standby

// Explain returns the error of a statement, or of a connection, as one of package runlog, if it is
// one.
func Explain(err error) error {
	var known *pgconn.PgError
	var connecting *pgconn.ConnectError
	var broken net.Error
	switch {
	case errors.Is(err, runlog.ErrCorrupt), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &known) && known.Code == diskFull:
		return fmt.Errorf("%w: %w", runlog.ErrDiskFull, err)
	case known != nil && !slices.Contains(unavailable, known.Code[:2]):
		return err
	case known != nil, errors.As(err, &connecting), errors.As(err, &broken), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.EOF), errors.Is(err, driver.ErrBadConn), pgconn.SafeToRetry(err), pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w: %w", runlog.ErrUnavailable, err)
	}
	return err
}

// MayRepeat reports whether a transaction failed only because of another one's.
func MayRepeat(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == serializationFailed || e.Code == deadlock)
}
