package store

import (
	"context"
	"time"

	"github.com/photon-beam/beam/internal/store/postgres"
)

// A Worker is a process that shares the store, as its row says. Times are by the database's clock.
type Worker struct {
	ID      string
	Joined  time.Time
	Renewed time.Time // when its lease was renewed last
	About   string    // JSON of what the process says of itself
	// Silence is how long ago the lease was renewed, and Expired means that it has expired.
	Silence time.Duration
	Expired bool
	// Unlocked means that the process had a session, which has ended.
	Unlocked bool
}

// databaseNow is the time of the database's clock, in nanoseconds since 1970.
const databaseNow = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"

// RenewLease renews the lease of this process, whose id is given, or takes the first.
func (x *Sharing) RenewLease(ctx context.Context, id, about string, lease time.Duration) error {
	lock := int64(0)
	if x.HasSession() {
		lock = x.lock
	}
	const query = `INSERT INTO workers (id, joined, renewed, expires, lock, about)
		VALUES ($1, ` + databaseNow + `, ` + databaseNow + `, ` + databaseNow + ` + $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET renewed = excluded.renewed, expires = excluded.expires, lock = excluded.lock, about = excluded.about`
	return x.exec(ctx, query, id, lease.Nanoseconds(), lock, about)
}

// Leave ends the lease of a process, so that others go on with its runs at once.
func (x *Sharing) Leave(ctx context.Context, id string) error {
	err := x.exec(ctx, "DELETE FROM workers WHERE id = $1", id)
	if err == nil {
		err = x.exec(ctx, "SELECT pg_notify($1, '')", channelOf(x.store.writer))
	}
	return err
}

// Forget removes the rows of processes whose leases expired some time ago, and what was counted of
// processes without a row.
func (x *Sharing) Forget(ctx context.Context, ago time.Duration) error {
	if err := x.exec(ctx, "DELETE FROM workers WHERE expires < "+databaseNow+" - $1", ago.Nanoseconds()); err != nil {
		return err
	}
	return x.exec(ctx, "DELETE FROM unfinished WHERE runs = 0 AND worker NOT IN (SELECT id FROM workers)")
}

// Workers returns the processes that share the store.
func (x *Sharing) Workers(ctx context.Context) (all []Worker, err error) {
	const query = `SELECT w.id, w.joined, w.renewed, ` + databaseNow + ` - w.renewed, w.expires < ` + databaseNow + `, w.about,
		w.lock <> 0 AND w.lock NOT IN (` + postgres.Locks + `) FROM workers w ORDER BY w.joined, w.id`
	err = x.leases.query(ctx, query, func(row scanner) error {
		var w Worker
		var joined, renewed int64
		err := row.Scan(&w.ID, &joined, &renewed, &w.Silence, &w.Expired, &w.About, &w.Unlocked)
		w.Joined, w.Renewed = time.Unix(0, joined), time.Unix(0, renewed)
		all = append(all, w)
		return err
	})
	return all, err
}

// exec executes a statement on the connection of leases.
func (x *Sharing) exec(ctx context.Context, query string, args ...any) error {
	_, err := x.leases.exec(ctx, query, args...)
	return err
}
