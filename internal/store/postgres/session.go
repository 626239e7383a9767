package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Backend is the server's process of a connection.
type Backend struct {
	pid     int
	started time.Time
}

// BackendOf returns that of a connection.
func BackendOf(ctx context.Context, conn *sql.Conn) (b Backend, err error) {
	err = conn.QueryRowContext(ctx, "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()").Scan(&b.pid, &b.started)
	return b, err
}

// AwaitEnd ends a backend whose connection was lost, and waits until it has ended: until then, it may still
// commit. It uses another connection.
func (b Backend) AwaitEnd(ctx context.Context, conn *sql.Conn) error {
	for {
		var there bool
		const query = "SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2 AND pid <> pg_backend_pid()"
		if err := conn.QueryRowContext(ctx, query, b.pid, b.started).Scan(&there); err != nil || !there {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A Session is a connection of its own, which holds the lock of a process and receives what others
// notify. Poolers of transactions have none.
type Session struct {
	conn    *pgx.Conn
	channel string
}

// Connect connects a session, which listens on a channel and holds the lock of a number.
func Connect(ctx context.Context, c *pgx.ConnConfig, channel string, lock int64) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	own := c.Copy()
	own.RuntimeParams["statement_timeout"] = "0" // it waits for notices
	conn, err := pgx.ConnectConfig(ctx, own)
	if err != nil {
		return nil, err
	}
	var locked bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", lock).Scan(&locked)
	if err == nil && !locked {
		err = errors.New("another session has the lock of this process")
	}
	if err == nil {
		_, err = conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize())
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &Session{conn, channel}, nil
}

// Locks selects the numbers of advisory locks that sessions hold: those of 64 bits are in two columns.
const Locks = `SELECT (l.classid::bigint << 32) | l.objid::bigint FROM pg_locks l WHERE l.locktype = 'advisory'
	AND l.objsubid = 1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// Wait returns the next notice.
func (s *Session) Wait(ctx context.Context) (payload string, err error) {
	n, err := s.conn.WaitForNotification(ctx)
	if err != nil {
		return "", err
	}
	return n.Payload, nil
}

// Close closes the session, and with it its lock.
func (s *Session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// A Notice says which runs a transaction has changed: the ordinals of their last entries, 0 for one
// that was deleted. The run "" stands for any.
type Notice map[string]uint64

// maxPayload bounds the payload of a notice, of which PostgreSQL allows 8000 bytes.
const maxPayload = 7900

// String returns the payload of a notice.
func (n Notice) String() string {
	var text strings.Builder
	for run, last := range n {
		fmt.Fprintf(&text, "%s %d ", run, last)
	}
	if text.Len() > maxPayload || strings.Count(text.String(), " ") != 2*len(n) {
		return ""
	}
	return text.String()
}

// ParseNotice parses a payload. One that can't be parsed stands for any run.
func ParseNotice(payload string) Notice {
	n := make(Notice)
	words := strings.Fields(payload)
	for pair := range slices.Chunk(words, 2) {
		last, err := strconv.ParseUint(pair[len(pair)-1], 10, 64)
		if err != nil || len(pair) < 2 {
			return Notice{"": 0}
		}
		n[pair[0]] = last
	}
	if len(n) == 0 {
		n[""] = 0
	}
	return n
}
