package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// A Probe finds out what a database can do. It changes nothing there.
type Probe struct {
	config *pgx.ConnConfig
	db     *sql.DB
	conn   *sql.Conn
}

// ErrParameters means that the server, a pooler, doesn't take the parameters of Beam's connections.
var ErrParameters = errors.New("it doesn't take the timeouts of connections")

const protocolViolation = "08P01"

// NewProbe connects. The caller must close the probe.
func NewProbe(ctx context.Context, at string) (*Probe, error) {
	config, err := Parse(at)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["lock_timeout"] = "1000"       // others wait for what waits
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // prepares nothing, but for Prepared
	db := OpenDB(config, 2)
	conn, err := db.Conn(ctx)
	if known, ok := errors.AsType[*pgconn.PgError](err); ok && known.Code == protocolViolation {
		err = fmt.Errorf("%w: %w", ErrParameters, err)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Probe{config, db, conn}, nil
}

// Close closes the connections.
func (p *Probe) Close() error { return errors.Join(p.conn.Close(), p.db.Close()) }

// Conn returns a connection.
func (p *Probe) Conn() *sql.Conn { return p.conn }

func (p *Probe) scan(ctx context.Context, query string, dest ...any) error {
	return p.conn.QueryRowContext(ctx, query).Scan(dest...)
}

// A Transport is how a connection is protected.
type Transport struct {
	TLS        string // its version; empty without TLS
	MayBePlain bool   // a connection may go to another machine without TLS
	Verified   bool   // the server's certificate
}

// Transport returns how this connection is protected, and others may be.
func (p *Probe) Transport() (t Transport, err error) {
	err = p.conn.Raw(func(c any) error {
		if secure, ok := c.(*stdlib.Conn).Conn().PgConn().Conn().(*tls.Conn); ok {
			t.TLS = tls.VersionName(secure.ConnectionState().Version)
		}
		return nil
	})
	check := func(host string, c *tls.Config) {
		t.MayBePlain = t.MayBePlain || c == nil && !isLocal(host)
		t.Verified = t.Verified || c != nil && (!c.InsecureSkipVerify || c.VerifyPeerCertificate != nil)
	}
	check(p.config.Host, p.config.TLSConfig)
	for _, other := range p.config.Fallbacks {
		check(other.Host, other.TLSConfig)
	}
	return t, err
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || ip != nil && ip.IsLoopback()
}

// Version returns the server's version, as a number such as 150004, and as text.
func (p *Probe) Version(ctx context.Context) (number int, text string, err error) {
	err = p.scan(ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_version')", &number, &text)
	return number, text, err
}

// ReadOnly reports whether the server is a standby, or its transactions can't write.
func (p *Probe) ReadOnly(ctx context.Context) (standby, readOnly bool, err error) {
	err = p.scan(ctx, "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'", &standby, &readOnly)
	return standby, readOnly, err
}

// Sessions tries what a [Session] needs: that others see its lock as long as it lasts, and that it
// receives what they notify.
func (p *Probe) Sessions(ctx context.Context) (locks, notices error) {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it doesn't fail
	lock, channel := int64(binary.BigEndian.Uint64(b[:])|1), fmt.Sprintf("beam_probe_%x", b)
	s, err := Connect(ctx, p.config, channel, lock)
	if err != nil {
		return err, err
	}
	if _, err = p.conn.ExecContext(ctx, "SELECT pg_notify($1, 'probe')", channel); err == nil {
		waiting, cancel := context.WithTimeout(ctx, settleTime)
		if _, err := s.Wait(waiting); err != nil {
			notices = errors.New("no notice arrives")
		}
		cancel()
		locks = p.awaitLock(ctx, lock, true, "the lock of a session is not in pg_locks")
	}
	s.Close()
	if err == nil && locks == nil {
		locks = p.awaitLock(ctx, lock, false, "the lock of a session outlives it: a pooler keeps its connection")
	}
	return cmp.Or(err, locks), cmp.Or(err, notices)
}

// settleTime is how long something may take that should be immediate.
const settleTime = 3 * time.Second

// awaitLock waits until an advisory lock is held, or isn't.
func (p *Probe) awaitLock(ctx context.Context, lock int64, want bool, otherwise string) error {
	for began := time.Now(); time.Since(began) < settleTime; {
		var held bool
		if err := p.scan(ctx, fmt.Sprintf("SELECT %d IN (%s), pg_sleep(0.02)::text", lock, Locks), &held, new(string)); err != nil || held == want {
			return err
		}
	}
	return errors.New(otherwise)
}

// Prepared tries whether a prepared statement survives between transactions, while another client is
// in one: a pooler may give each transaction another connection.
func (p *Probe) Prepared(ctx context.Context) error {
	const query = "SELECT pg_backend_pid() + $1::int"
	var pid int
	own, err := p.conn.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer own.Close()
	if err := own.QueryRowContext(ctx, 0).Scan(&pid); err != nil {
		return err
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	other, err := tx.PrepareContext(ctx, query) // by the same name
	if err != nil {
		return err
	}
	if err := other.QueryRowContext(ctx, 0).Scan(&pid); err != nil {
		return err
	}
	return own.QueryRowContext(ctx, 0).Scan(&pid)
}

// ClockDifference returns how far the database's clock is ahead of this machine's, at least.
func (p *Probe) ClockDifference(ctx context.Context) (d time.Duration, err error) {
	var now time.Time
	before := time.Now()
	err = p.scan(ctx, "SELECT clock_timestamp()", &now)
	if after := time.Now(); now.Before(before) {
		d = now.Sub(before)
	} else if now.After(after) {
		d = now.Sub(after)
	}
	return d, err
}

// Durability returns when a commit is confirmed: the setting synchronous_commit, and the names of
// standbys that must have it.
func (p *Probe) Durability(ctx context.Context) (commit, standbys string, err error) {
	err = p.scan(ctx, "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names')", &commit, &standbys)
	return commit, standbys, err
}

// Connections returns how many connections this role may have, besides those that there are.
func (p *Probe) Connections(ctx context.Context) (free int, err error) {
	const query = `SELECT least(
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - (SELECT sum(numbackends) FROM pg_stat_database),
			(SELECT nullif(datconnlimit, -1) - (SELECT count(*) FROM pg_stat_activity a WHERE a.datname = d.datname) FROM pg_database d WHERE datname = current_database()),
			(SELECT nullif(rolconnlimit, -1) - (SELECT count(*) FROM pg_stat_activity a WHERE a.usename = r.rolname) FROM pg_roles r WHERE rolname = current_user))`
	err = p.scan(ctx, query, &free)
	return max(free, 0), err
}
