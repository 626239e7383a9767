package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/photon-beam/beam/internal/store/postgres"
)

// Sharing is what processes that share a database tell each other. Its methods may be called from
// several goroutines.
//
// Each commit names the runs that it has changed to the other processes, as a hint: it may be lost, or
// there may be no way to receive it. What was missed is found by asking for the ends of runs, a few
// times a second.
type Sharing struct {
	store  *Store
	config *pgx.ConnConfig
	lock   int64   // of this process
	leases *reader // has a connection of its own, so that slow readers don't hold up the lease

	mu       sync.Mutex
	changed  map[string]uint64 // the ends of runs that were noticed since they were taken; anyRun for any
	wake     chan struct{}     // has a token if there are some
	sessions bool              // there is one now
}

// anyRun stands for any run.
const anyRun = ""

// How often what others have changed is looked for: of runs that are followed here, and, of all, after a
// session of hints.
const (
	pollInterval  = 250 * time.Millisecond
	minReconnect  = time.Second
	readerConns   = 7
	headsAtOnce   = 500
	channelPrefix = "beam_"
)

// OpenPostgres opens the store in a PostgreSQL database, or creates one there; see
// [postgres.Parse]. Of the options, Dir and the like mean nothing. lock is a random number of
// this process; see [Sharing.HasSession]. The error is [ErrNewerFormat], [runlog.ErrUnavailable], or
// the database's.
func OpenPostgres(ctx context.Context, at string, lock int64, o Options) (*Store, error) {
	config, err := postgres.Parse(at)
	if err != nil {
		return nil, err
	}
	o.Sync = cmp.Or(o.Sync, SyncAlways)
	db, readers := postgres.OpenDB(config, 1), postgres.OpenDB(config, readerConns)
	s, err := open(ctx, o, &postgresDialect, db, readers, nil)
	if err != nil {
		return nil, errors.Join(postgres.Explain(err), db.Close(), readers.Close())
	}
	leases := postgres.OpenDB(config, 1)
	x := &Sharing{store: s, leases: &reader{statements: statements{on: leases}, dialect: &postgresDialect, closing: s.closing}, config: config, lock: lock, changed: make(map[string]uint64), wake: make(chan struct{}, 1)}
	s.sharing = x
	s.closeDB = func() error {
		return errors.Join(x.leases.closeStatements(), leases.Close(), db.Close(), readers.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.background.Go(func() { <-s.closing; cancel() })
	s.background.Go(func() { x.listen(ctx) })
	s.background.Go(func() { x.poll(ctx) })
	return s, nil
}

// channelOf returns the channel of the hints of a store.
func channelOf(w *writer) string { return channelPrefix + hex.EncodeToString(w.id) }

// note notes where a run's log ends now; 0 for its deletion.
func (g *group) note(run string, last uint64) {
	if g.noted == nil {
		g.noted = make(postgres.Notice)
	}
	g.noted[run] = last
}

// notify tells other processes what the transaction changes, when it is committed.
func (g *group) notify() error {
	if !g.store.isShared() || len(g.noted) == 0 {
		return nil
	}
	return g.queryRow("SELECT pg_notify($1, $2)", func(row scanner) error { var void string; return row.Scan(&void) }, channelOf(g.writer), g.noted.String())
}

// HasSession reports whether this process has a session, which holds the advisory lock of its number.
func (x *Sharing) HasSession() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sessions
}

// listen receives hints until ctx ends.
func (x *Sharing) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := x.receive(ctx)
		if ctx.Err() == nil {
			x.store.logger.Warn("no session with the database, which tells what other processes change; it is asked instead", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(minReconnect):
		}
	}
}

func (x *Sharing) receive(ctx context.Context) error {
	session, err := postgres.Connect(ctx, x.config, channelOf(x.store.writer), x.lock)
	if err != nil {
		return err
	}
	defer session.Close()
	x.setSession(true)
	defer x.setSession(false)
	for {
		notice, err := session.Wait(ctx)
		if err != nil {
			return err
		}
		x.note(postgres.ParseNotice(notice))
	}
}

func (x *Sharing) setSession(has bool) {
	x.mu.Lock()
	x.sessions = has
	x.mu.Unlock()
	x.note(postgres.Notice{anyRun: 0}) // hints may have been lost meanwhile
}

// note notes which runs have changed.
func (x *Sharing) note(n postgres.Notice) {
	for run, last := range n {
		x.lookAt(run, last)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.Copy(x.changed, n) // notices come in the order of commits
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// lookAt tells the followers of a run where its log ends; 0 means that it was deleted.
func (x *Sharing) lookAt(run string, last uint64) {
	if last == 0 && run != anyRun {
		x.store.hub.end(run)
	} else {
		x.store.hub.look(run, last)
	}
}

// Changed waits until processes have changed something, and returns the ordinals of the last entries of
// runs, 0 for one that was deleted; others reports whether others may have changed, too. This process's own
// changes are among them.
func (x *Sharing) Changed(ctx context.Context) (runs map[string]uint64, others bool, err error) {
	select {
	case <-x.wake:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	runs, x.changed = x.changed, make(map[string]uint64)
	_, others = runs[anyRun]
	delete(runs, anyRun)
	return runs, others, nil
}

// poll looks for what others have appended to runs that are followed here.
func (x *Sharing) poll(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		followed := x.store.hub.followed()
		heads, err := x.Heads(ctx, followed)
		if err != nil {
			continue // the next time
		}
		for _, run := range followed {
			x.lookAt(run, heads[run])
		}
	}
}

// Heads returns the ordinals of the last entries of runs. Those that don't exist are missing.
func (x *Sharing) Heads(ctx context.Context, runs []string) (map[string]uint64, error) {
	heads := make(map[string]uint64, len(runs))
	for len(runs) > 0 {
		some := runs[:min(headsAtOnce, len(runs))]
		runs = runs[len(some):]
		texts := make([]string, len(some))
		for i, id := range some {
			texts[i] = toText(id)
		}
		err := x.store.query(ctx, "SELECT id, head FROM runs WHERE id = ANY($1)", func(row scanner) error {
			var id string
			var head uint64
			err := row.Scan(&id, &head)
			heads[fromText(id)] = head
			return err
		}, texts)
		if err != nil {
			return nil, err
		}
	}
	return heads, nil
}

// IsEmpty reports whether there are no runs, no files of runs, and no small state.
func (x *Sharing) IsEmpty(ctx context.Context) (bool, error) {
	found := false
	err := x.store.query(ctx, "SELECT 1 FROM runs UNION ALL SELECT 1 FROM blobs UNION ALL SELECT 1 FROM state LIMIT 1", func(scanner) error {
		found = true
		return nil
	})
	return !found, err
}

// Clear empties all tables but those of the store itself and of its processes. The store can only be
// closed then.
func (x *Sharing) Clear(ctx context.Context) error {
	var tables []string
	err := x.store.query(ctx, "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('meta', 'workers')", func(row scanner) error {
		var table string
		err := row.Scan(&table)
		tables = append(tables, table)
		return err
	})
	if err != nil {
		return err
	}
	return x.exec(ctx, "TRUNCATE "+strings.Join(tables, ", "))
}
