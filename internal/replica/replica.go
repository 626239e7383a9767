// Package replica keeps the lease of a process that shares its store with others, and tells which
// of them are gone, so that their runs may be claimed.
//
// A process holds the runs that it has claimed last, for as long as it is there: it goes on with
// them, whoever has recorded an answer. A process is gone if it has left; if its lease, which it
// renews every few seconds, has expired; or if the session that held its advisory lock has ended and
// the lease hasn't been renewed for a while, either. All times of leases are the database's. A process that
// could not reach the database itself doesn't know who is gone, until it has had contact for as long as
// others may need to come back.
package replica

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/photon-beam/beam/internal/engine/sharing"
	"github.com/photon-beam/beam/internal/store"
)

// How long leases are, and what follows from it.
const (
	Lease      = 15 * time.Second
	renewEvery = 3 * time.Second
	lookEvery  = time.Second
	// suspicion is how long a process whose session has ended may be silent before it is gone.
	suspicion = 5 * time.Second
	// stepLease is how old the renewal of a lease may be when a step begins.
	stepLease = 10 * time.Second
	// A process that has begun knows who is gone after firstContact, and one that had lost contact
	// after another lease.
	firstContact = suspicion
	// queryTimeout bounds the queries here, so that a database that hangs is noticed.
	queryTimeout = 3 * time.Second
	// forgetAfter is how long an expired lease is shown.
	forgetAfter = 10 * time.Minute
)

// A Shared is what processes have in common; see [store.Sharing].
type Shared interface {
	RenewLease(ctx context.Context, id, about string, lease time.Duration) error
	Workers(ctx context.Context) ([]store.Worker, error)
	Leave(ctx context.Context, id string) error
	Forget(ctx context.Context, ago time.Duration) error
}

// A Member is this process among those that share a store. Its methods may be called from several
// goroutines.
type Member struct {
	shared Shared
	about  string
	id     string
	logger *slog.Logger
	ctx    context.Context
	leave  context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	renewed time.Time // when this process knew its lease to be renewed
	waiting chan struct{}
	contact time.Time     // since when it reaches the database; zero if it doesn't
	needed  time.Duration // how long it must have done so to know who is gone
	knows   bool          // it has
	reached time.Time     // when it did so last
	peers   map[string]sharing.Peer
}

// NewID returns an id for a process, and the number of its advisory lock.
func NewID() (id string, lock int64) {
	var b [8]byte
	_, _ = rand.Read(b[:])                                                    // it doesn't fail
	return hex.EncodeToString(b[:]), int64(binary.BigEndian.Uint64(b[:]) | 1) // not 0
}

// Join makes this process, whose id is given, one of those that share a store, until Leave is called.
func Join(ctx context.Context, s Shared, id string, about sharing.About, logger *slog.Logger) (*Member, error) {
	text, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	m := &Member{shared: s, about: string(text), id: id, logger: logger, done: make(chan struct{}), needed: firstContact, peers: make(map[string]sharing.Peer)}
	if err := m.renew(ctx); err != nil {
		return nil, fmt.Errorf("joining the processes that share the store: %w", err)
	}
	if err := m.look(ctx); err != nil {
		return nil, fmt.Errorf("joining the processes that share the store: %w", err)
	}
	m.ctx, m.leave = context.WithCancel(context.Background())
	go m.run()
	return m, nil
}

// ID returns the id of this process, which claims record.
func (m *Member) ID() string { return m.id }

// Leave gives up the lease, so that others go on with the runs of this process.
func (m *Member) Leave() error {
	m.leave()
	<-m.done
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	return m.shared.Leave(ctx, m.id)
}

// run renews the lease and looks who is there.
func (m *Member) run() {
	defer close(m.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	forgotten := time.Now()
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		}
		err := m.look(m.ctx)
		if err == nil && (time.Since(m.lastRenewal()) >= renewEvery-lookEvery/2) {
			err = m.renew(m.ctx)
		}
		if err == nil && m.knowsOthers() && time.Since(forgotten) > forgetAfter {
			forgotten, err = time.Now(), m.shared.Forget(m.ctx, forgetAfter)
		}
		if err != nil && m.ctx.Err() == nil {
			m.loseContact(err)
		}
	}
}

// knowsOthers reports whether this process has reached the database for long enough to know who is gone.
func (m *Member) knowsOthers() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.knows
}

func (m *Member) lastRenewal() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.renewed
}

func (m *Member) loseContact(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.contact.IsZero() {
		m.logger.Warn("no contact with the store's database", "err", err)
	}
	m.contact, m.needed, m.knows = time.Time{}, Lease, false
}

// renew renews the lease.
func (m *Member) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	began := time.Now() // the lease is at least as long as from here
	if err := m.shared.RenewLease(ctx, m.id, m.about, Lease); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.renewed = began
	if m.waiting != nil {
		close(m.waiting)
		m.waiting = nil
	}
	return nil
}

// look finds out who is there.
func (m *Member) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	workers, err := m.shared.Workers(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now().Round(0) // by the clock that goes on while the machine sleeps
	switch {
	case m.contact.IsZero():
		m.contact = now
	case now.Sub(m.reached) > lookEvery+queryTimeout || now.Before(m.reached): // this process was frozen, or the clock was set
		m.contact, m.needed = now, Lease
	}
	m.reached = now
	m.knows = now.Sub(m.contact) >= m.needed
	peers := make(map[string]sharing.Peer, len(workers))
	for _, w := range workers {
		p := sharing.Peer{ID: w.ID, Self: w.ID == m.id, Joined: w.Joined, Seen: w.Renewed}
		_ = json.Unmarshal([]byte(w.About), &p.About) // of another version, perhaps
		p.Gone = !p.Self && (m.knows && (w.Expired || w.Unlocked && w.Silence >= suspicion))
		if p.Gone && !m.peers[w.ID].Gone {
			m.logger.Warn("a process that shares the store is gone; its runs go on elsewhere", "worker", w.ID, "host", p.Host, "silent", w.Silence.Round(time.Second))
		}
		peers[w.ID] = p
	}
	m.peers = peers
	return nil
}

// Holds reports whether this process may go on with the runs that a process has claimed: it is that
// process, or that one is gone.
func (m *Member) Holds(ctx context.Context, worker string) bool {
	if worker == m.id || worker == "" { // before there were several
		return true
	}
	if p, known := m.peer(worker); known && !p.Gone {
		return false
	}
	if m.look(ctx) != nil { // it may have come, or come back, a moment ago
		return false
	}
	p, known := m.peer(worker)
	return !known || p.Gone
}

func (m *Member) peer(worker string) (sharing.Peer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, known := m.peers[worker]
	return p, known
}

// A process that has not reached the database for notReadyAfter, or has not been able to write to it
// for twice as long as it renews its lease, isn't ready.
const notReadyAfter = 2 * lookEvery

// Err returns an error while the process can't reach the database, for readiness checks. The receiver
// may be nil.
func (m *Member) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now().Round(0); now.Sub(m.reached) < notReadyAfter && now.Sub(m.renewed.Round(0)) < 2*renewEvery+notReadyAfter {
		return nil
	}
	return errNoContact
}

var errNoContact = errors.New("no contact with the store's database")

// Peers returns the processes that share the store, this one among them, in the order in which they
// have joined.
func (m *Member) Peers() []sharing.Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.peers), func(a, b sharing.Peer) int { return a.Joined.Compare(b.Joined) })
}

// LeaseAge returns how long ago the lease was renewed.
func (m *Member) LeaseAge() time.Duration {
	return max(time.Now().Round(0).Sub(m.lastRenewal().Round(0)), 0)
}

// AwaitLease waits until the lease has been renewed a moment ago, as before each step: a process that
// was frozen, or can't reach the database, may have been taken for gone. It reports whether it
// waited. The error is ctx's.
func (m *Member) AwaitLease(ctx context.Context) (waited bool, err error) {
	for {
		m.mu.Lock()
		age := time.Now().Round(0).Sub(m.renewed.Round(0))
		if age >= 0 && age < stepLease {
			m.mu.Unlock()
			return waited, nil
		}
		if m.waiting == nil {
			m.waiting = make(chan struct{})
		}
		renewed := m.waiting
		m.mu.Unlock()
		waited = true
		select {
		case <-renewed:
		case <-ctx.Done():
			return waited, context.Cause(ctx)
		}
	}
}
